// SPDX-License-Identifier: MIT
// Names of a CPU's own events, by libpfm4: opened when first asked, and not needed.
#pragma once

#include <optional>
#include <string>

#include "perf/event.h"

namespace fathom::perf {

// A name with libpfm4's own modifiers. None: it does not know the name, or is not installed. It
// tells what the CPU's model has; a virtual machine may have less.
std::optional<Event> pfm_event(const std::string& name);

}  // namespace fathom::perf
