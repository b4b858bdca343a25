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

// What can be told of a process. Unseen: it ran on another machine, or in a pid namespace that is
// not beneath ours, and lives until nothing was heard of it for a while (silent()).
enum class Life : std::uint8_t { kGone, kUnseen, kLives };

// One thread at a time, const calls too: what /proc said is kept until begin_pass(). Nothing fails;
// what /proc does not tell counts as alive.
class Liveness {
 public:
  Liveness(const fathom_run_header& run, Clock clock, std::string proc = "/proc");

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
  [[nodiscard]] Life life(const Pid& pid, std::uint64_t key, std::uint64_t tick) const;
  [[nodiscard]] bool alive(const Pid& pid, std::uint64_t key, std::uint64_t tick) const {
    return life(pid, key, tick) != Life::kGone;
  }
  // The same for one of whom only a date is known at which it lived, 0 for none.
  [[nodiscard]] Life life_since(const Pid& pid, std::uint64_t key, std::int64_t realtime_ns) const;

  // Some or all processes may be unseen.
  [[nodiscard]] bool may_hide() const { return elsewhere() || spaces_.may_hide(); }
  void heard(std::int64_t realtime_ns) { heard_ns_ = std::max(heard_ns_, realtime_ns); }
  // Nothing was heard for a while: who is unseen may have ended, or may only be silent.
  [[nodiscard]] bool silent() const { return !is_recent(heard_ns_); }
  // Nothing was heard, and nobody holds a segment: the unseen have ended, as far as this pass goes.
  void set_deserted(bool deserted) { deserted_ = deserted; }
  // Somebody knows that they have ended.
  void all_ended();

 private:
  enum class Machine : std::uint8_t { kThisBoot, kEarlierBoot, kAnother };
  struct Seen {
    bool there = false;
    std::int64_t started_boottime_ns = 0;
  };
  [[nodiscard]] bool elsewhere() const { return machine_ == Machine::kAnother; }
  [[nodiscard]] const Seen& look(std::uint32_t pid) const;
  [[nodiscard]] bool started_before(std::uint32_t pid, std::uint64_t tick) const;
  [[nodiscard]] std::uint64_t known_tick(const Pid& pid, std::uint64_t key) const;

  Machine machine_ = Machine::kThisBoot;
  std::string proc_;
  bool ended_ = false;     // somebody said so
  bool deserted_ = false;  // in this pass
  std::int64_t heard_ns_ = 0;
  mutable PidSpaces spaces_;
  Clock clock_;
  std::int64_t start_boottime_ns_ = 0;
  std::map<Pid, std::map<std::uint64_t, std::uint64_t>> images_;  // key to a tick
  mutable std::unordered_map<std::uint32_t, Seen> seen_;
};

}  // namespace fathom::trace
