// SPDX-License-Identifier: MIT
// Commands of the fleet in a build that has no fleet: they are there, and say why they cannot.
#pragma once

#include "base/result.h"

namespace fathom::cli {

class Parser;

// --help works; anything else is kUnsupported with the reason and what to do about it.
Result<int> tell_what_fleet_lacks(Parser& parser);
[[nodiscard]] Error what_fleet_lacks();

}  // namespace fathom::cli
