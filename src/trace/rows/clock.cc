// SPDX-License-Identifier: MIT
// Pairs that contradict the rate so far by more than a tenth are refused: no clock changes its rate
// like that, but a damaged header may claim it.
#include "trace/rows/clock.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"

namespace fathom::trace {
namespace {

constexpr std::int64_t kSmallestStep =
    1000000;  // ns: closer pairs say more about the reading than about the clock
constexpr double kTolerance = 0.10;

// Wraps where a damaged manifest makes it.
std::int64_t ns_between(const ClockPair& from, const ClockPair& to) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(to.monotonic_ns) -
                                   static_cast<std::uint64_t>(from.monotonic_ns));
}

double rate_between(const ClockPair& from, const ClockPair& to) {
  return static_cast<double>(ns_between(from, to)) / static_cast<double>(to.tick - from.tick);
}

std::uint64_t read_counter() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t value;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return static_cast<std::uint64_t>(now_monotonic_ns());
#endif
}

}  // namespace

Clock::Clock(std::uint32_t tick_source, ClockPair start, double ns_per_tick)
    : tick_source_(tick_source), first_rate_(ns_per_tick) {
  if (!std::isfinite(first_rate_) || first_rate_ <= 0 || first_rate_ > 1e6) first_rate_ = 1.0;
  if (tick_source == FATHOM_TICK_MONOTONIC_NS) first_rate_ = 1.0;
  pairs_.push_back(start);
  seek(start.tick);
}

Clock Clock::of(const fathom_run_header& header) {
  Clock clock(header.tick_source,
              {header.start_tick,
               static_cast<std::int64_t>(header.start_monotonic_ns & (UINT64_MAX >> 2))});
  clock.add_left(header);
  return clock;
}

void Clock::add_left(const fathom_run_header& header) {
  const std::uint64_t tick = __atomic_load_n(&header.last_tick, __ATOMIC_ACQUIRE);
  const std::uint64_t ns = __atomic_load_n(&header.last_monotonic_ns, __ATOMIC_RELAXED);
  if (tick != 0) add({tick, static_cast<std::int64_t>(ns & (UINT64_MAX >> 2))});
}

void Clock::add(ClockPair pair) {
  if (pairs_.empty() || pair.tick <= pairs_.back().tick) return;
  const ClockPair& last = pairs_.back();
  if (ns_between(last, pair) < kSmallestStep) return;
  const double rate = rate_between(last, pair);
  if (pairs_.size() > 1 && std::abs(rate / ns_per_tick() - 1) > kTolerance) return;
  pairs_.push_back(pair);
  span_ = 0;
}

// The counter is read between two readings of the clock; of several tries the one with the least in
// between is kept.
ClockPair Clock::read() const {
  ClockPair best;
  std::int64_t best_gap = INT64_MAX;
  for (int i = 0; i < 8; i++) {
    const std::int64_t before = now_monotonic_ns();
    const std::uint64_t tick = now_tick(tick_source_);
    const std::int64_t gap = now_monotonic_ns() - before;
    if (gap >= best_gap) continue;
    best_gap = gap;
    best = {tick, before + gap / 2};
  }
  if (tick_source_ == FATHOM_TICK_MONOTONIC_NS) {
    best.monotonic_ns = static_cast<std::int64_t>(best.tick);
  }
  return best;
}

double Clock::ns_per_tick() const {
  if (pairs_.size() < 2) return first_rate_;
  return rate_between(pairs_.front(), pairs_.back());
}

void Clock::seek(std::uint64_t tick) const {
  if (pairs_.empty()) return;
  const auto later =
      std::upper_bound(pairs_.begin(), pairs_.end(), tick,
                       [](std::uint64_t t, const ClockPair& pair) { return t < pair.tick; });
  const auto last = static_cast<std::size_t>(pairs_.end() - pairs_.begin()) - 1;
  auto piece = static_cast<std::size_t>(later - pairs_.begin());
  piece = piece == 0 ? 0 : piece - 1;
  const std::size_t slope =
      piece == last && last > 0 ? last - 1 : piece;  // goes on behind the last pair as before it
  double rate = first_rate_;
  if (pairs_.size() > 1) rate = rate_between(pairs_[slope], pairs_[slope + 1]);
  from_tick_ = pairs_[piece].tick;
  span_ = piece < last ? pairs_[piece + 1].tick - from_tick_ : UINT64_MAX / 2;
  from_ns_ = ns_between(pairs_.front(), pairs_[piece]);
  rate_ = static_cast<std::int64_t>(std::clamp(rate, 1e-6, 1e6) * 4294967296.0);
}

std::uint64_t Clock::now_tick(std::uint32_t tick_source) {
  return tick_source == FATHOM_TICK_COUNTER ? read_counter()
                                            : static_cast<std::uint64_t>(now_monotonic_ns());
}

}  // namespace fathom::trace
