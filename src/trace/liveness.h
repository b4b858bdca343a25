// SPDX-License-Identifier: MIT
// Whether the process that owns a segment still lives. Where that cannot be told, it does: taking a
// segment from a living owner would cost events.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "trace/clock.h"
#include "wire/spool.h"

namespace fathom::trace {

class Liveness {
 public:
  Liveness(const fathom_run_header& run, Clock clock);

  // Forgets what /proc said.
  void begin_pass() { seen_.clear(); }
  // Process `key` had this pid at this moment. When another key has it later, the image of this one
  // is gone (exec).
  void saw(std::uint32_t pid, std::uint64_t key, std::uint64_t tick);
  // More than one image of this pid is known: alive() then wants a true tick.
  [[nodiscard]] bool ambiguous(std::uint32_t pid) const;

  // `tick`: some moment at which the owner lived; 0 is unknown (then what saw() was told is used).
  [[nodiscard]] bool alive(std::uint32_t pid, std::uint64_t key, std::uint64_t tick) const;
  // The same for one of whom only a date is known at which it lived, 0 for none.
  [[nodiscard]] bool alive_since(std::uint32_t pid, std::uint64_t key,
                                 std::int64_t realtime_ns) const;

 private:
  enum class Machine : std::uint8_t { kThisBoot, kEarlierBoot, kAnother };
  struct Seen {
    bool there = false;
    std::int64_t started_boottime_ns = 0;
  };
  [[nodiscard]] const Seen& look(std::uint32_t pid) const;
  [[nodiscard]] std::uint64_t known_tick(std::uint32_t pid, std::uint64_t key) const;

  Machine machine_ = Machine::kThisBoot;
  Clock clock_;
  std::int64_t start_boottime_ns_ = 0;
  std::unordered_map<std::uint32_t, std::map<std::uint64_t, std::uint64_t>>
      images_;  // pid: key to a tick
  mutable std::unordered_map<std::uint32_t, Seen> seen_;
};

}  // namespace fathom::trace
