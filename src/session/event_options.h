// SPDX-License-Identifier: MIT
// `--count` and `--region-events`: whether the events exist, and what the library is told of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::session {

// What became of --region-events.
struct RegionEvents {
  std::string variable;              // of the library's environment; "": none
  std::vector<std::string> refused;  // "cycles: why not", as `layers` is to tell them
};

// A usage error names what nobody knows, and names that are near. What is known and cannot be
// counted on regions is refused.
Result<RegionEvents> region_events(std::string_view text);

// What `--count` names: a usage error as above.
Status check_counted(std::string_view text);

}  // namespace fathom::session
