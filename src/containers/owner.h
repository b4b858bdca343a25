// SPDX-License-Identifier: MIT
// Who made a container: a label that tells a later command whether it was left behind.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "containers/engine.h"

namespace fathom::containers {

inline constexpr char kOwnerLabel[] = "fathom.owner";

// This process: its number, when it began, in which boot and pid namespace.
[[nodiscard]] std::string own_mark();
// Whether that process can be known to have ended. One of another pid namespace cannot.
[[nodiscard]] bool has_owner_ended(std::string_view mark);

// Removes containers whose owner was killed before it could. The first failure is returned.
Status remove_abandoned(Engine& engine);

}  // namespace fathom::containers
