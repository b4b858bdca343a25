// SPDX-License-Identifier: MIT
// Layers that were named must be recorded or the run fails; layers of the default set may be
// missing, and then carry a reason.
#include "session/layer_plan.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/text.h"

namespace fathom::session {
namespace {

// What the text of --layers came to.
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

void add_layer(std::string_view name, Choice& choice) {
  choice.named.emplace(name);
  const sources::SourceDef* source = sources::source_of(name);
  // What a source cannot do without is asked for with it.
  if (source != nullptr && !source->needs.empty()) choice.named.emplace(source->needs);
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
      add_layer(word, choice);
    } else {
      return unknown_layer(word);
    }
  }
  return choice;
}

Error cannot_record(std::string_view layer, const sources::Availability& state) {
  const std::string hint =
      state.fix.empty() ? "'fathom doctor' shows what can be recorded here" : "try: " + state.fix;
  return {Code::kUnsupported,
          "layer " + std::string(layer) + " cannot be recorded: " + state.reason, hint};
}

}  // namespace

bool LayerPlan::has(std::string_view layer) const {
  return std::ranges::find(layers, layer) != layers.end();
}

std::string_view LayerPlan::state_of(std::string_view layer) const {
  const auto found = std::ranges::find(states, layer, &trace::LayerState::layer);
  return found == states.end() ? std::string_view() : std::string_view(found->state);
}

void LayerPlan::leave_out(std::string_view layer, const std::string& reason) {
  if (std::erase(layers, layer) == 0) return;
  std::erase(in_process, layer);
  std::erase_if(hosts, [this](const sources::SourceDef* source) {
    return std::ranges::none_of(source->layers, [this](std::string_view one) { return has(one); });
  });
  const auto row = std::ranges::find(states, layer, &trace::LayerState::layer);
  row->state = "off";
  row->reason = reason;
}

std::vector<std::string_view> named_layers(std::string_view asked) {
  const Result<Choice> choice = read_choice(asked);
  std::vector<std::string_view> named;
  for (const sources::LayerDef& layer : sources::layers()) {
    if (choice && (choice->all || choice->named.contains(layer.name))) named.push_back(layer.name);
  }
  return named;
}

Probe probe_for_running(Probe probe, bool named) {
  return [probe = std::move(probe), named](std::string_view layer) -> sources::Availability {
    const sources::SourceDef* source = sources::source_of(layer);
    if (source == nullptr || source->joins || (named && source->attaches)) return probe(layer);
    return {.available = false,
            .reason = "programs that run cannot be joined in it",
            .fix = "fathom run --layers " + std::string(layer) + " -- …"};
  };
}

Result<LayerPlan> plan_layers(std::string_view asked, const Probe& probe) {
  FATHOM_ASSIGN(const Choice choice, read_choice(asked));
  LayerPlan plan;
  std::optional<Error> missing;  // of those that were named
  for (const sources::LayerDef& layer : sources::layers()) {
    const bool named = choice.named.contains(layer.name);
    const bool wanted = named || choice.all || (choice.defaults && layer.by_default);
    // Trying a layer may take its time: only what is wanted is tried.
    const bool exists = sources::source_of(layer.name) != nullptr;
    const sources::Availability state =
        wanted || !exists ? probe(layer.name) : sources::Availability();
    if (!state.available && named && !state.others_go_on) return cannot_record(layer.name, state);
    // Others may be had all the same: only if none is, the first reason is the answer.
    if (!state.available && named && !missing) missing = cannot_record(layer.name, state);
    trace::LayerState row{
        .layer = std::string(layer.name), .state = "on", .reason = "", .events = 0};
    if (!state.available) {
      row.state = "unavailable";
      row.reason = state.reason;
    } else if (!wanted) {
      row.state = "off";
      row.reason = "not asked for (--layers +" + row.layer + ")";
    } else if (!state.reason.empty()) {
      row.state = "partial";
      row.reason = state.reason;
    }
    plan.states.push_back(row);
    if (!state.available || !wanted) continue;
    plan.layers.push_back(row.layer);
    const sources::SourceDef* source = sources::source_of(layer.name);
    if (source == nullptr) continue;
    if (source->in_process) {
      plan.in_process.push_back(row.layer);
    } else if (std::ranges::find(plan.hosts, source) == plan.hosts.end()) {
      plan.hosts.push_back(source);
    }
  }
  if (missing && plan.layers.empty()) return *missing;
  return plan;
}

}  // namespace fathom::session
