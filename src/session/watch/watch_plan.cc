// SPDX-License-Identifier: MIT
// Daemons record host layers only, so a layer in which running programs cannot be joined gets a
// reason and the line that records it otherwise.
#include "session/watch/watch_plan.h"

#include <utility>

#include "session/kernel_options.h"
#include "sources/expect.h"

namespace fathom::session {

Result<LayerPlan> plan_watch(const WatchOptions& options) {
  const Probe joining = probe_for_running(probe_for(options.functions), false);
  sources::expect_layers(named_layers(options.layers));
  FATHOM_ASSIGN(LayerPlan plan, plan_layers(options.layers, joining));
  if (plan.layers.empty())
    return Error{Code::kUnsupported, "none of these layers can be recorded on this machine",
                 "'fathom doctor' shows what can be recorded, and why not"};
  FATHOM_TRY(check_sources(
      {options.functions, options.categories, options.filters, options.returns}, plan));
  for (const std::string& layer : options.detail) FATHOM_TRY(check_detail(layer, plan));
  return plan;
}

namespace {

// Functions of the kernel, or of programs.
bool is_of(const std::string& layer, const std::string& function) {
  const bool kernel = function.starts_with("kernel:") || function.starts_with("tracepoint:");
  return layer == "kernel" ? kernel : layer == "user" && !kernel;
}

void drop_functions(const std::string& layer, WatchOptions& options) {
  for (const std::string& function : options.functions) {
    if (!is_of(layer, function)) continue;
    std::erase_if(options.categories,
                  [&](const std::string& category) { return category.ends_with("=" + function); });
  }
  std::erase_if(options.functions, [&](const std::string& one) { return is_of(layer, one); });
}

}  // namespace

std::vector<std::string> settle_wishes(WatchOptions& options) {
  std::vector<std::string> refused;
  for (const std::string& layer : std::exchange(options.wished, {})) {
    WatchOptions more = options;
    more.layers += "," + layer;
    for (const std::string other : {"kernel", "user"}) {
      const bool named = (("," + more.layers + ",").find("," + other + ",")) != std::string::npos;
      if (!named) drop_functions(other, more);
    }
    if (const Result<LayerPlan> plan = plan_watch(more); !plan) {
      refused.push_back(plan.error().message);
      drop_functions(layer, options);
    } else {
      options.layers = more.layers;
    }
  }
  return refused;
}

std::vector<std::string> detail_of(const WatchOptions& options, const LayerPlan& plan) {
  if (!options.each_call) return options.detail;
  std::vector<std::string> layers;
  for (const std::string& layer : plan.layers) {
    if (sources::source_of(layer)->in_detail) layers.push_back(layer);
  }
  return layers;
}

Status may_replace(const WatchOptions& old, const WatchOptions& fresh) {
  const bool same = old.output == fresh.output && old.socket == fresh.socket &&
                    old.pfw == fresh.pfw && old.rolls == fresh.rolls;
  if (same) return {};
  return Error{Code::kInvalid,
               "output, socket, pfw and rolling cannot be changed while the daemon runs",
               "restart the daemon"};
}

}  // namespace fathom::session
