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
#include "trace/spool/chunk_log.h"

namespace fathom::trace {

inline constexpr char kVanished[] = "files of the spool vanished while it was recorded";

// A value without a file of its own: whoever drains appends the entries that the static functions
// make, whoever reads hands them to add(). One thread at a time.
class Journal {
 public:
  // So many events went into a log.
  static std::string drained(std::uint64_t log, std::uint64_t events);
  // A pool was cut short by somebody.
  static std::string pool_cut();
  // The first entry of a log: which it is, and of which run.
  static std::string head(std::uint64_t log, std::uint64_t run);

  // Foreign bytes: an entry that is damaged adds nothing.
  void add(std::span<const std::uint8_t> entry);
  [[nodiscard]] std::int64_t events_of(std::uint64_t log) const;
  [[nodiscard]] std::uint64_t entries_of(std::uint64_t log) const;  // that were put into it
  [[nodiscard]] std::uint64_t next_log() const;                     // above all that it tells of

  struct Seen {
    std::uint64_t runs = 0;                          // that were begun, as run.header counts them
    std::uint64_t next_log = 0;                      // above all that were ever made
    std::function<bool(std::uint64_t log)> has_log;  // there, or packed
    const Definitions* definitions = nullptr;        // of all that was drained, and of segments
  };
  // What is missing. Empty: nothing is.
  [[nodiscard]] std::vector<Loss> gaps(const Seen& seen) const;

 private:
  struct Noted {
    std::uint64_t events = 0;
    std::uint64_t entries = 0;
  };
  std::map<std::uint64_t, Noted> logs_;
  std::int64_t pools_cut_ = 0;
};

// Which entries of a log are its own: a log begins with its number (Journal::head), so that what
// somebody copied there from another one is known. One without a number, from an older recorder,
// has all of its entries.
class OwnEntries {
 public:
  OwnEntries(std::uint64_t log, std::uint64_t run) : log_(log), run_(run) {}
  // In the order in which they lie there. False: another's, or the number itself.
  [[nodiscard]] bool take(const LogEntry& entry);
  [[nodiscard]] bool any_of_others() const { return others_; }

 private:
  std::uint64_t log_;
  std::uint64_t run_;
  bool begun_ = false;
  bool own_ = true;
  bool others_ = false;
};

}  // namespace fathom::trace
