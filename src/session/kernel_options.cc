// SPDX-License-Identifier: MIT
// Checks that options fit the layers that will be recorded, before anything is loaded: a filter
// that concerns nothing is a mistake, not a default.
#include "session/kernel_options.h"

#include <algorithm>

namespace fathom::session {

Probe probe_for(const std::vector<std::string>& functions) {
  return [&functions](std::string_view layer) -> sources::Availability {
    if (layer != "user" || !functions.empty()) return sources::probe_layer(layer);
    return {.available = false, .reason = "no function was named", .fix = "--functions PATH:NAME"};
  };
}

Status check_sources(const KernelOptions& options, const LayerPlan& plan) {
  const auto& [functions, categories, filters, returns] = options;
  if (!categories.empty() && functions.empty())
    return usage_error("--categories needs --functions", "name functions with --functions");
  if (returns && functions.empty())
    return usage_error("--returns needs --functions", "name functions with --functions");
  if (!functions.empty() && plan.state_of("user") == "off")
    return usage_error("--functions needs layer user, which is not recorded", "add --layers +user");
  if (!filters.empty() && std::ranges::none_of(plan.hosts, &sources::SourceDef::in_detail))
    return usage_error("--filter needs a layer of the kernel, and none is recorded",
                       "add --layers +syscall");
  sources::SourceContext asked;
  asked.functions = functions;
  asked.categories = categories;
  asked.returns = returns;
  asked.filters = filters;
  asked.layers = plan.layers;
  for (const sources::SourceDef* source : plan.hosts) {
    if (source->check != nullptr) FATHOM_TRY(source->check(asked));
  }
  return {};
}

Status check_detail(const std::string& layer, const LayerPlan& plan) {
  const sources::SourceDef* source = sources::source_of(layer);
  if (source == nullptr || !source->in_detail)
    return usage_error("--detail does not apply to '" + layer + "'",
                       "it applies to layers of the kernel, such as syscall and block");
  if (!plan.has(layer) && plan.state_of(layer) == "off")
    return usage_error("--detail names layer " + layer + ", which is not recorded",
                       "add --layers +" + layer);
  return {};
}

}  // namespace fathom::session
