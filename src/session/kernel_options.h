// SPDX-License-Identifier: MIT
// What can be wrong with options of layers that are recorded beside the programs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "session/layer_plan.h"

namespace fathom::session {

// A layer that records what it is told to has nothing to record where it is told nothing. The
// functions must outlive the probe.
Probe probe_for(const std::vector<std::string>& functions);

// What the user asked of layers of the kernel, as typed.
struct KernelOptions {
  const std::vector<std::string>&functions, &categories, &filters;
  bool returns = false;
};
Status check_sources(const KernelOptions& options, const LayerPlan& plan);
// One layer of --detail.
Status check_detail(const std::string& layer, const LayerPlan& plan);

}  // namespace fathom::session
