// SPDX-License-Identifier: MIT
// Checks that options fit the layers that will be recorded, before anything is loaded: a filter
// that concerns nothing is a mistake, not a default.
#include "session/kernel_options.h"

#include <algorithm>

namespace fathom::session {
namespace {

constexpr std::string_view kUser = "user";
constexpr std::string_view kKernel = "kernel";

// The layer that a text of --functions is of.
std::string_view layer_of(std::string_view text) {
  return text.starts_with("kernel:") || text.starts_with("tracepoint:") ? kKernel : kUser;
}

}  // namespace

Probe probe_for(const std::vector<std::string>& functions) {
  return [&functions](std::string_view layer) -> sources::Availability {
    if (layer != kUser && layer != kKernel) return sources::probe_layer(layer);
    if (std::ranges::any_of(functions, [&](const auto& one) { return layer_of(one) == layer; }))
      return sources::probe_layer(layer);
    const char* fix = layer == kUser ? "--functions PATH:NAME" : "--functions kernel:NAME";
    return {.available = false, .reason = "no function was named", .fix = fix};
  };
}

Status check_sources(const KernelOptions& options, const LayerPlan& plan) {
  const auto& [functions, categories, filters, returns] = options;
  if (!categories.empty() && functions.empty())
    return usage_error("--categories needs --functions", "name functions with --functions");
  if (returns && functions.empty())
    return usage_error("--returns needs --functions", "name functions with --functions");
  for (const std::string& text : functions) {
    const std::string layer(layer_of(text));
    if (plan.state_of(layer) == "off")
      return usage_error("--functions needs layer " + layer + ", which is not recorded",
                         "add --layers +" + layer);
  }
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
