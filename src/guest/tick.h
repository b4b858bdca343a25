// SPDX-License-Identifier: MIT
// The clock of events: the CPU's counter where it can be trusted, CLOCK_MONOTONIC in ns where not.
// The run header says which.
#pragma once

#include <stdint.h>
#include <time.h>

namespace fathom::guest {

inline uint64_t read_counter() {
#if defined(__x86_64__)
  uint32_t low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return (static_cast<uint64_t>(high) << 32) | low;
#else
  uint64_t value;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#endif
}

// Where the fine clocks cannot be read as ever (confinement.h).
extern bool clocks_are_restricted;
uint64_t restricted_clock_ns(clockid_t clock);

inline uint64_t clock_ns(clockid_t clock) {
  if (__builtin_expect(clocks_are_restricted, 0)) return restricted_clock_ns(clock);
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace fathom::guest
