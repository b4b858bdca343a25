// SPDX-License-Identifier: MIT
// clock_gettime in one place. The clocks are chosen here alone, so that all host times can be
// compared with those of the guest (CLOCK_MONOTONIC).
#include "base/clock.h"

#include <ctime>

namespace fathom {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::int64_t read_clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);  // cannot fail for these clocks
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

}  // namespace

std::int64_t now_monotonic_ns() { return read_clock(CLOCK_MONOTONIC); }
std::int64_t now_realtime_ns() { return read_clock(CLOCK_REALTIME); }
std::int64_t now_thread_cpu_ns() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace fathom
