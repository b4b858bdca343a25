// SPDX-License-Identifier: MIT
// Whether the process that owns a segment still lives. Where that cannot be told, it does: taking a
// segment from a living owner would cost events.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "trace/rows/clock.h"
#include "trace/spool/pid_spaces.h"
#include "wire/spool.h"

namespace fathom::trace {

// A recorder says every second that it lives (heartbeat_ns of run.header); a date that is older
// than this, or as far ahead, is no sign of life.
inline constexpr std::int64_t kLeaseNs = 15'000'000'000;
[[nodiscard]] bool is_recent(std::int64_t realtime_ns);

// One thread at a time, const calls too: what /proc said is kept until begin_pass(). Nothing fails;
// what /proc does not tell counts as alive.
class Liveness {
 public:
  Liveness(const fathom_run_header& run, Clock clock);

  // Forgets what /proc said.
  void begin_pass() {
    seen_.clear();
    spaces_.begin_pass();
  }
  // Process `key` had this pid at this moment. When another key has it later, the image of this one
  // is gone (exec).
  void saw(const Pid& pid, std::uint64_t key, std::uint64_t tick);
  // More than one image of this pid is known: alive() then wants a true tick.
  [[nodiscard]] bool ambiguous(const Pid& pid) const;

  // `tick`: some moment at which the owner lived; 0 is unknown (then what saw() was told is used).
  [[nodiscard]] bool alive(const Pid& pid, std::uint64_t key, std::uint64_t tick) const;
  // Programs of another machine, or of a pid namespace that is not beneath ours, cannot be seen
  // from here: they live, until nothing was heard of them for a while. Then they may have ended, or
  // may only be silent.
  [[nodiscard]] bool elsewhere() const { return machine_ == Machine::kAnother; }
  void heard(std::int64_t realtime_ns) { heard_ns_ = std::max(heard_ns_, realtime_ns); }
  [[nodiscard]] bool silent() const;
  // Somebody knows that they have ended.
  void all_ended();
  // The same for one of whom only a date is known at which it lived, 0 for none.
  [[nodiscard]] bool alive_since(const Pid& pid, std::uint64_t key, std::int64_t realtime_ns) const;

 private:
  enum class Machine : std::uint8_t { kThisBoot, kEarlierBoot, kAnother };
  struct Seen {
    bool there = false;
    std::int64_t started_boottime_ns = 0;
  };
  [[nodiscard]] const Seen& look(std::uint32_t pid) const;
  [[nodiscard]] std::uint64_t known_tick(const Pid& pid, std::uint64_t key) const;

  Machine machine_ = Machine::kThisBoot;
  bool ended_ = false;  // somebody said so
  std::int64_t heard_ns_ = 0;
  mutable PidSpaces spaces_;
  Clock clock_;
  std::int64_t start_boottime_ns_ = 0;
  std::map<Pid, std::map<std::uint64_t, std::uint64_t>> images_;  // key to a tick
  mutable std::unordered_map<std::uint32_t, Seen> seen_;
};

}  // namespace fathom::trace
