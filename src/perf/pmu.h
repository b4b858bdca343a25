// SPDX-License-Identifier: MIT
// Events that the kernel describes in files: those of a device (sysfs: its type, the places of its
// terms in the configuration, its named events) and tracepoints (tracefs: a number each).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "perf/event.h"

namespace fathom::perf {

// "cpu/event=0x3c,umask=1/" by its parts. The name is left to the caller.
Result<Event> device_event(std::string_view device, std::string_view terms, const Places& places);

// A named event of any device ("mem-loads"); none: nobody has it.
std::optional<Event> named_event(std::string_view name, const Places& places);

// "sched", "sched_switch". Where tracefs cannot be read, an event with the reason; none: there is
// no such tracepoint.
std::optional<Event> tracepoint(std::string_view system, std::string_view name,
                                const Places& places);

// "sched:sched_switch", … of a system; of all where it is empty.
std::vector<std::string> tracepoint_names(std::string_view system, const Places& places);
std::vector<std::string> device_names(const Places& places);

// Whether this machine has counters in its CPU.
[[nodiscard]] bool has_hardware_counters(const Places& places = {});

}  // namespace fathom::perf
