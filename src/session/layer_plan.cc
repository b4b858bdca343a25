// SPDX-License-Identifier: MIT
#include "session/layer_plan.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace fathom::session {
namespace {

struct Choice {
  std::set<std::string, std::less<>> named;  // must be recorded
  bool defaults = false;
  bool all = false;
};

Error unknown_layer(std::string_view name) {
  std::vector<std::string> names;
  for (const sources::LayerDef& layer : sources::layers()) names.emplace_back(layer.name);
  return usage_error("there is no layer '" + std::string(name) + "'",
                     "layers are " + join(names, ", "));
}

Result<Choice> read_choice(std::string_view asked) {
  Choice choice;
  asked = trim(asked);
  if (asked.empty()) {
    choice.defaults = true;
    return choice;
  }
  if (asked.starts_with('+')) {
    choice.defaults = true;
    asked.remove_prefix(1);
  }
  for (std::string_view word : split(asked, ',')) {
    word = trim(word);
    if (word.starts_with('+')) word.remove_prefix(1);
    if (word == "default") {
      choice.defaults = true;
    } else if (word == "all") {
      choice.all = true;
    } else if (sources::find_layer(word) != nullptr) {
      choice.named.emplace(word);
    } else {
      return unknown_layer(word);
    }
  }
  return choice;
}

Error cannot_record(std::string_view layer, const sources::Availability& state) {
  const std::string hint =
      state.fix.empty() ? "'fathom doctor' tells what can be recorded here" : "try: " + state.fix;
  return {Code::kUnsupported,
          "layer " + std::string(layer) + " cannot be recorded: " + state.reason, hint};
}

}  // namespace

bool LayerPlan::has(std::string_view layer) const {
  return std::ranges::find(layers, layer) != layers.end();
}

Result<LayerPlan> plan_layers(std::string_view asked, const Probe& probe) {
  FATHOM_ASSIGN(const Choice choice, read_choice(asked));
  LayerPlan plan;
  for (const sources::LayerDef& layer : sources::layers()) {
    const bool named = choice.named.contains(layer.name);
    const bool wanted = named || choice.all || (choice.defaults && layer.by_default);
    const sources::Availability state = probe(layer.name);
    if (!state.available && named) return cannot_record(layer.name, state);
    trace::LayerState row{
        .layer = std::string(layer.name), .state = "on", .reason = "", .events = 0};
    if (!state.available) {
      row.state = "unavailable";
      row.reason = state.reason;
    } else if (!wanted) {
      row.state = "off";
      row.reason = "not asked for (--layers +" + row.layer + ")";
    }
    plan.states.push_back(row);
    if (row.state != "on") continue;
    plan.layers.push_back(row.layer);
    const sources::SourceDef* source = sources::source_of(layer.name);
    if (source == nullptr) continue;
    if (source->in_process) {
      plan.in_process.push_back(row.layer);
    } else if (std::ranges::find(plan.hosts, source) == plan.hosts.end()) {
      plan.hosts.push_back(source);
    }
  }
  return plan;
}

}  // namespace fathom::session
