// SPDX-License-Identifier: MIT
// Compares what was drained with what is there. Without it a removed log would look like a quiet
// program, and "nothing lost" would be a guess.
#include "trace/spool/journal.h"

#include <algorithm>
#include <utility>

#include "base/sum.h"
#include "trace/decode/record_walker.h"
#include "trace/rows/byte_writer.h"

namespace fathom::trace {
namespace {

enum : std::uint64_t { kDrainedEvents = 1, kPoolCut = 2, kLogHead = 3 };
constexpr std::uint64_t kMostLogs = 1U << 20;  // a name may hold any number

std::string entry_of(std::uint64_t what, std::uint64_t log, std::uint64_t events) {
  std::string bytes;
  for (const std::uint64_t number : {what, log, events}) put_raw(bytes, number);
  return bytes;
}

struct Entry {
  std::uint64_t what = 0;
  std::uint64_t log = 0;
  std::uint64_t number = 0;
};

Entry read_entry(std::span<const std::uint8_t> bytes) {
  ByteReader reader(bytes.data(), bytes.data() + bytes.size());
  Entry entry;
  const bool whole = reader.raw(entry.what) && reader.raw(entry.log) && reader.raw(entry.number);
  return whole ? entry : Entry();
}

// Runs that were begun and never seen. A header without a count leaves the gaps in each thread.
std::uint64_t missing_runs(const Definitions& definitions, std::uint64_t begun) {
  std::uint64_t seen = 0;
  std::uint64_t gaps = 0;
  for (const auto& process : definitions.processes()) {
    for (const auto& [ordinal, thread] : process->threads) {
      seen += thread.runs.count();
      gaps += thread.runs.missing();
    }
  }
  if (begun == 0) return gaps;
  return begun > seen ? begun - seen : 0;
}

}  // namespace

std::string Journal::drained(std::uint64_t log, std::uint64_t events) {
  return entry_of(kDrainedEvents, log, events);
}
std::string Journal::pool_cut() { return entry_of(kPoolCut, 0, 1); }
std::string Journal::head(std::uint64_t log, std::uint64_t run) {
  return entry_of(kLogHead, log, run);
}

bool OwnEntries::take(const LogEntry& entry) {
  if (entry.kind != EntryKind::kDrained) return own_;
  const Entry head = read_entry(entry.bytes);
  if (head.what != kLogHead) return false;
  own_ = !std::exchange(begun_, true) && head.log == log_ && head.number == run_;
  others_ |= !own_;
  return false;
}

void Journal::add(std::span<const std::uint8_t> bytes) {
  const Entry entry = read_entry(bytes);
  if (entry.what == kDrainedEvents) {
    Noted& noted = logs_[entry.log];
    noted.events += entry.number;
    noted.entries++;
  }
  if (entry.what == kPoolCut) add_to(pools_cut_, std::int64_t{1});
}

std::uint64_t Journal::entries_of(std::uint64_t log) const {
  const auto known = logs_.find(log);
  return known == logs_.end() ? 0 : known->second.entries;
}

std::int64_t Journal::events_of(std::uint64_t log) const {
  const auto known = logs_.find(log);
  return known == logs_.end() ? 0 : static_cast<std::int64_t>(known->second.events & INT64_MAX);
}

std::uint64_t Journal::next_log() const {
  return logs_.empty() ? 0 : std::min(logs_.rbegin()->first, kMostLogs) + 1;
}

std::vector<Loss> Journal::gaps(const Seen& seen) const {
  std::vector<Loss> losses;
  std::int64_t events = 0;
  std::int64_t unknown = 0;  // logs that the journal does not tell of
  for (const auto& [log, noted] : logs_) {
    if (!seen.has_log(log)) add_to(events, std::max<std::int64_t>(events_of(log), 1));
  }
  for (std::uint64_t log = 0; log < seen.next_log && log < kMostLogs; log++) {
    if (!logs_.contains(log) && !seen.has_log(log)) add_to(unknown, std::int64_t{1});
  }
  if (events > 0)
    losses.push_back({"", "events of a log that was removed from the spool or replaced", events});
  if (unknown > 0) losses.push_back({"", "logs that were removed from the spool", unknown});
  if (pools_cut_ > 0) losses.push_back({"", "pools that were cut short", pools_cut_});
  if (seen.definitions == nullptr) return losses;
  if (logs_.empty() && seen.next_log > 0) {
    losses.push_back({"", "the journal of the spool is gone", 1});
    return losses;
  }
  const std::uint64_t runs = missing_runs(*seen.definitions, seen.runs);
  if (runs > 0)
    losses.push_back({"", "segments that vanished before they were read",
                      static_cast<std::int64_t>(runs & INT64_MAX)});
  return losses;
}

}  // namespace fathom::trace
