// SPDX-License-Identifier: MIT
// The clocks of the kernel that we use, in nanoseconds.
#pragma once

#include <cstdint>

namespace fathom {

[[nodiscard]] std::int64_t
now_monotonic_ns();                            // CLOCK_MONOTONIC: durations and order within a boot
[[nodiscard]] std::int64_t now_realtime_ns();  // CLOCK_REALTIME: the date, since 1970; may jump
[[nodiscard]] std::int64_t now_thread_cpu_ns();  // what the calling thread has used of a core

}  // namespace fathom
