// SPDX-License-Identifier: MIT
// SIGINT or what came, then SIGTERM, then SIGKILL, `grace` apart.
#pragma once

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>

namespace fathom::containers {

// A clock's arithmetic alone: whoever has it sends the signals, to a process or through an engine.
// Times are of CLOCK_MONOTONIC.
class StopSequence {
 public:
  static constexpr std::int64_t kKilledNs = 30'000'000'000;  // for an end by SIGKILL

  explicit StopSequence(std::int64_t grace_ns) : grace_ns_(grace_ns) {}

  void begin_at(std::int64_t when_ns) { next_ns_ = when_ns; }
  // So many of the signals have been sent already.
  void begun(std::int64_t now_ns, std::size_t steps = 1) {
    if (step_ >= steps) return;
    step_ = steps;
    next_ns_ = now_ns + grace_ns_;
  }
  [[nodiscard]] bool has_begun() const { return step_ > 0; }
  [[nodiscard]] std::int64_t next_ns() const { return next_ns_; }
  // The signal that is due; 0: none.
  int due(std::int64_t now_ns) {
    constexpr std::array kSignals = {SIGINT, SIGTERM, SIGKILL};
    if (next_ns_ == 0 || now_ns < next_ns_ || step_ > kSignals.size()) return 0;
    if (step_ == kSignals.size()) {
      is_over_ = true;
      return 0;
    }
    const int signal = kSignals[step_++];
    next_ns_ = now_ns + (signal == SIGKILL ? kKilledNs : grace_ns_);
    return signal;
  }
  [[nodiscard]] bool is_over() const { return is_over_; }  // and it still has not ended

 private:
  std::int64_t grace_ns_;
  std::int64_t next_ns_ = 0;  // 0: never
  std::size_t step_ = 0;
  bool is_over_ = false;
};

}  // namespace fathom::containers
