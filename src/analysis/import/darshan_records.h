// SPDX-License-Identifier: MIT
// What Darshan counted, for each module, rank and file: counters on their way into sums of calls
// (`summary`) and, where they are none of that, into `counters`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "analysis/import/darshan_line.h"
#include "base/result.h"
#include "trace/recording/recording_writer.h"
#include "trace/rows/batch.h"
#include "trace/rows/strings.h"

namespace fathom::analysis {

// Reads, writes, or what Darshan times as metadata. Times in ns.
struct DarshanOperation {
  static constexpr std::size_t kRanges = 10;

  std::int64_t calls = 0;
  std::int64_t dur = 0;
  std::int64_t dur_max = trace::kNull;
  std::int64_t bytes = trace::kNull;
  std::int64_t first = trace::kNull;
  std::int64_t last = trace::kNull;
  std::int64_t consecutive = trace::kNull;
  std::int64_t sequential = trace::kNull;  // the consecutive ones too
  std::int64_t highest = trace::kNull;     // the last byte that was touched
  std::array<std::int64_t, kRanges> sizes = {};
};

// Where a log stands in a recording that may hold several.
struct DarshanFrame {
  std::int32_t first_pid = 0;  // rank r becomes process first_pid + r
  std::int64_t shift_ns = 0;   // of times
  std::int64_t end_ns = 0;     // of the run
};

enum class DarshanKind : std::uint8_t { kRead, kWrite, kMetadata };

// One thread at a time. All records of a log are in memory until write().
class DarshanRecords {
 public:
  // False: its value is none.
  bool add(const DarshanCounter& counter);
  [[nodiscard]] std::int64_t last_rank() const { return last_rank_; }
  // The number of rows.
  Result<std::int64_t> write(const DarshanFrame& frame, trace::RecordingWriter& writer) const;

 private:
  struct Key {
    std::string module;
    std::int64_t rank = -1;
    std::uint64_t record = 0;
    bool operator<(const Key& other) const {
      return std::tie(module, rank, record) < std::tie(other.module, other.rank, other.record);
    }
  };
  struct Record {
    std::string file;
    std::array<DarshanOperation, 3> operations;
  };
  // Sums that belong to no call: module, rank, name.
  using SumKey = std::tuple<std::string, std::int64_t, std::string>;
  struct Heat {
    double width = 0;                              // seconds
    std::map<std::int64_t, std::int64_t> bins[2];  // bytes read, written
  };

  bool add_heat(const DarshanCounter& counter);
  bool add_sum(const DarshanCounter& counter);
  [[nodiscard]] const std::map<Key, Record>& shown() const;
  [[nodiscard]] trace::CounterBatch counters(const DarshanFrame& frame,
                                             trace::Strings& strings) const;
  [[nodiscard]] std::int64_t time_below(const Key& key, std::size_t kind) const;

  std::map<Key, Record> records_;
  std::map<Key, Record> totals_;  // what --total prints: shown where there are no records
  std::map<SumKey, double> sums_, total_sums_;
  std::map<std::pair<std::string, std::int64_t>, Heat> heat_;  // by name of the map and rank
  std::int64_t last_rank_ = -1;
};

}  // namespace fathom::analysis
