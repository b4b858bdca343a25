// SPDX-License-Identifier: MIT
// What the weight of a sample is, by the name of its event.
#pragma once

#include <string_view>

#include "trace/rows/samples.h"

namespace fathom::analysis {

// A stretch in which a thread was off the CPU.
inline constexpr std::string_view kOffCpuEvent = trace::kOffCpu;

// ns, as against a number of events. Modifiers are part of the name: cpu-clock:u.
[[nodiscard]] inline bool is_time_event(std::string_view event) {
  return event == kOffCpuEvent || event.starts_with("cpu-clock") || event.starts_with("task-clock");
}

}  // namespace fathom::analysis
