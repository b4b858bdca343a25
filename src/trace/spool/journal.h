// SPDX-License-Identifier: MIT
// What a drainer notes in definitions.log about its own work (EntryKind::kDrained), and what can be
// told from it: logs that were filled and are gone, runs of threads that nobody ever read. A gap is
// a loss.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "trace/decode/decoder.h"

namespace fathom::trace {

inline constexpr char kVanished[] = "files of the spool vanished while it was recorded";

class Journal {
 public:
  // So many events went into a log.
  static std::string drained(std::uint64_t log, std::uint64_t events);
  // A pool was cut short by somebody.
  static std::string pool_cut();

  void add(std::span<const std::uint8_t> entry);
  [[nodiscard]] std::int64_t events_of(std::uint64_t log) const;
  [[nodiscard]] std::uint64_t next_log() const;  // above all that it tells of

  struct Seen {
    std::uint64_t runs = 0;                          // that were begun, as run.header counts them
    std::uint64_t next_log = 0;                      // above all that were ever made
    std::function<bool(std::uint64_t log)> has_log;  // there, or packed
    const Definitions* definitions = nullptr;        // of all that was drained, and of segments
  };
  // What is missing. Empty: nothing is.
  [[nodiscard]] std::vector<Loss> gaps(const Seen& seen) const;

 private:
  std::map<std::uint64_t, std::uint64_t> logs_;  // events by log
  std::int64_t pools_cut_ = 0;
};

}  // namespace fathom::trace
