// SPDX-License-Identifier: MIT
// Ticks of the recorded program into ns since the start of the run. Pairs of (tick,
// CLOCK_MONOTONIC) taken during the run fix a piecewise linear function: what lies between two
// pairs never changes when later pairs are added, so that events packed at different times still
// contain each other to the nanosecond. Monotone.
#pragma once

#include <cstdint>
#include <vector>

#include "wire/spool.h"

namespace fathom::trace {

// One moment by both clocks.
struct ClockPair {
  std::uint64_t tick = 0;
  std::int64_t monotonic_ns = 0;
};

// A value: copies are independent. ns() looks a piece up and remembers it, so each thread has a
// copy of its own.
class Clock {
 public:
  Clock() = default;
  // The first pair is the run's start, ts = 0. `ns_per_tick` is used until there is a second pair.
  Clock(std::uint32_t tick_source, ClockPair start, double ns_per_tick = 1.0);
  // Of a run, with the pair that its processes left.
  static Clock of(const fathom_run_header& header);

  // Adds that pair: whoever looks later, on whatever machine, tells the same times of what was
  // before it.
  void add_left(const fathom_run_header& header);

  // Adds a pair; one that is not later than the last by 1 ms at least, or that makes the clock run
  // more than 10 % off its known speed, is ignored.
  void add(ClockPair pair);
  // Reads both clocks now. Only meaningful on the machine and boot that the run is of.
  [[nodiscard]] ClockPair read() const;

  // ns since the run's start; negative before it.
  [[nodiscard]] std::int64_t ns(std::uint64_t tick) const {
    if (tick - from_tick_ >= span_) seek(tick);
    // Damaged clocks may overflow; they do it without undefined behaviour.
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(from_ns_) +
                                     static_cast<std::uint64_t>(scale(tick)));
  }

  [[nodiscard]] std::uint32_t tick_source() const { return tick_source_; }
  [[nodiscard]] const std::vector<ClockPair>& pairs() const { return pairs_; }
  [[nodiscard]] double ns_per_tick() const;  // over all pairs

  static std::uint64_t now_tick(std::uint32_t tick_source);

 private:
  [[nodiscard]] std::int64_t scale(std::uint64_t tick) const {
    const auto delta = static_cast<__int128>(static_cast<std::int64_t>(tick - from_tick_));
    return static_cast<std::int64_t>((delta * rate_) >> 32);
  }
  void seek(std::uint64_t tick) const;

  std::uint32_t tick_source_ = FATHOM_TICK_MONOTONIC_NS;
  double first_rate_ = 1.0;
  std::vector<ClockPair> pairs_;
  // The piece in use: a cache, hence one thread per copy.
  mutable std::uint64_t from_tick_ = 0;
  mutable std::uint64_t span_ = 0;
  mutable std::int64_t from_ns_ = 0;
  mutable std::int64_t rate_ = std::int64_t{1} << 32;  // ns per tick, 32 fractional bits
};

}  // namespace fathom::trace
