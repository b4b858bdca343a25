// SPDX-License-Identifier: MIT
// The events that every kernel knows by a number of its own, whatever the CPU.
#pragma once

#include <optional>
#include <string_view>

#include "perf/event.h"

namespace fathom::perf {

// Without modifiers.
[[nodiscard]] std::optional<Event> find_generic(std::string_view name);

}  // namespace fathom::perf
