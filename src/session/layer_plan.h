// SPDX-License-Identifier: MIT
// Which layers a run records: what was asked for, against what this build and this machine can.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sources/list.h"
#include "trace/recording/manifest.h"

namespace fathom::session {

// Which layers are recorded, and what is said of the others. Made before anything starts.
struct LayerPlan {
  std::vector<std::string> layers;               // that are recorded, top down
  std::vector<const sources::SourceDef*> hosts;  // sources to start beside the program
  std::vector<std::string> in_process;           // layers that libfathom.so records
  std::vector<trace::LayerState> states;         // a row for every layer that exists

  [[nodiscard]] bool has(std::string_view layer) const;
  [[nodiscard]] std::string_view state_of(std::string_view layer) const;
  // What was planned is not recorded after all.
  void leave_out(std::string_view layer, const std::string& reason);
};

using Probe = std::function<sources::Availability(std::string_view layer)>;

// `asked` is the value of --layers: "" or "default", "all" (everything that can be recorded here),
// "a,b" for just those,
// "+a,b" for the default and those. A layer that does not exist is a usage error; one that was
// named and cannot be recorded is kUnsupported; one of the default is left out, with its reason in
// `states`, and so is one that this machine has not got, where others were named with it.
Result<LayerPlan> plan_layers(std::string_view asked, const Probe& probe = sources::probe_layer);

// The same probe for programs that run already. `named`: each of them is.
Probe probe_for_running(Probe probe, bool named);

// Those that it names, other than by default; none where it is wrong.
std::vector<std::string_view> named_layers(std::string_view asked);

}  // namespace fathom::session
