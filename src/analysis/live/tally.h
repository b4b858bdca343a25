// SPDX-License-Identifier: MIT
// Sums of a recording that grow from look to look: of calls by process and name, of time by process
// and function. Texts are codes of one Strings that its owner keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "trace/rows/strings.h"
#include "trace/rows/summary.h"

namespace fathom::analysis {

struct CallKey {
  std::int32_t pid = trace::kNull32;
  std::uint32_t layer = trace::kNoString;
  std::uint32_t name = trace::kNoString;
  std::uint32_t category = trace::kNoString;
  bool operator==(const CallKey&) const = default;
};

// What calls of one name came to. `minus` gives what came since an earlier look at the same sum.
struct CallSum {
  std::int64_t calls = 0;
  std::int64_t bytes = 0;
  std::int64_t self = 0;
  std::int64_t beyond = 0;  // of self: reads and writes of what is no file

  void add(const CallSum& more);
  [[nodiscard]] CallSum minus(const CallSum& before) const;
};

struct TimeKey {
  std::int32_t pid = trace::kNull32;
  std::uint32_t cause = trace::kNoString;  // kNoString: it ran
  std::uint32_t what = trace::kNoString;
  bool operator==(const TimeKey&) const = default;
};

// A wait is told when it has ended: all of it counts for the total, and for rates what lies behind
// the moment that was reached before.
struct TimeSum {
  std::int64_t total = 0;
  std::int64_t recent = 0;
};

// One hash for both tables of a Tally.
struct TallyHash {
  std::size_t operator()(const CallKey& key) const;
  std::size_t operator()(const TimeKey& key) const;
};

// One thread at a time.
class Tally {
 public:
  // Rows of calls; what comes later is added to rows of trace::kOtherNames.
  static constexpr std::size_t kMostRows = trace::SummaryTable::kMostRows;

  void add(const trace::SummaryTable& sums, const trace::Strings& from, trace::Strings& names);
  void add(const CallKey& key, const CallSum& sum, trace::Strings& names);
  void add(const TimeKey& key, const TimeSum& sum, trace::Strings& names);
  // Sums are of what happened until then; ns since the begin of the recording.
  void reach(std::int64_t until) { until_ = until > until_ ? until : until_; }

  [[nodiscard]] std::int64_t until() const { return until_; }
  [[nodiscard]] std::int64_t events() const { return events_; }
  [[nodiscard]] const auto& calls() const { return calls_; }
  [[nodiscard]] const auto& time() const { return time_; }
  [[nodiscard]] CallSum of(const CallKey& key) const;
  [[nodiscard]] TimeSum of(const TimeKey& key) const;

 private:
  std::int64_t until_ = 0;
  std::int64_t events_ = 0;
  std::unordered_map<CallKey, CallSum, TallyHash> calls_;
  std::unordered_map<TimeKey, TimeSum, TallyHash> time_;
};

}  // namespace fathom::analysis
