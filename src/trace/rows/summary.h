// SPDX-License-Identifier: MIT
// What reports read instead of all events: sums per (layer, name, category, file, program image),
// and busy time per layer over time. Made while decoding; additive, so that parts made by different
// packs or hosts can be summed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "trace/rows/access_pattern.h"
#include "trace/rows/batch.h"
#include "trace/rows/inside.h"
#include "trace/rows/strings.h"

namespace fathom::trace {

// What an event adds. `self` is dur without the time of the events inside it.
struct SummaryKey {
  std::uint32_t layer = kNoString;
  std::uint32_t name = kNoString;
  std::uint32_t category = kNoString;
  std::uint32_t file = kNoString;
  std::int32_t pid = kNull32;
  std::uint32_t program = kNoString;
  std::uint64_t process = 0;       // as in ProcessRow: tells program images of a pid apart
  std::uint32_t peer = kNoString;  // what a descriptor leads to that is no file
  bool operator==(const SummaryKey&) const = default;
};

// One row of `summary`.
struct SummaryRow {
  SummaryKey key;
  std::int64_t calls = 0;
  std::int64_t errors = 0;
  std::int64_t dur = 0;
  std::int64_t self = 0;
  std::int64_t dur_min = 0;
  std::int64_t dur_max = 0;
  std::int64_t bytes = kNull;  // NULL until an event has a value there
  std::int64_t first = 0;      // smallest ts
  std::int64_t last = 0;       // largest ts + dur
  std::vector<std::int64_t>
      hist;  // hist[i] counts 2^i <= dur < 2^(i+1) ns; 0 ns is in hist[0]; no zeros at the end
  std::vector<std::int64_t> sizes;  // the same of bytes, where there are any
  AccessPattern access;

  void add(std::int64_t ts, std::int64_t duration, std::int64_t self_time, std::int64_t moved,
           bool failed);
  // Bytes that a call put here which is counted elsewhere, where it took them from.
  void add_written(std::int64_t ts, std::int64_t duration, std::int64_t moved);
  [[nodiscard]] bool empty() const { return calls == 0 && bytes == kNull; }
  void merge(const SummaryRow& other);  // keys are the caller's matter
};

// What stands for files and names that have no row of their own, because there are too many.
inline constexpr char kOtherFiles[] = "other files";
inline constexpr char kOtherNames[] = "other names";

// One thread at a time. Codes are of the strings that the caller keeps.
class SummaryTable {
 public:
  // Rows in all; half as many with a file of their own. What comes later is added to rows of
  // kOtherFiles (by layer, name, category and process) or, beyond that, of kOtherNames (by layer).
  static constexpr std::size_t kMostRows = std::size_t{1} << 15;
  // From now on there are no more than that. Importers and queries have no bound.
  void bound(Strings& strings);

  // The index of the key's row; stays valid.
  std::size_t find(const SummaryKey& key);
  SummaryRow& at(std::size_t index) { return rows_[index]; }
  [[nodiscard]] const std::vector<SummaryRow>& rows() const { return rows_; }
  void add(const SummaryRow& row) { rows_[find(row.key)].merge(row); }
  // Adds rows whose texts are codes of another pool.
  void add(const SummaryTable& other, const Strings& from, Strings& to);
  void clear();

 private:
  void grow();
  // The slot of the key's row, or the empty one where it would be.
  [[nodiscard]] std::size_t slot_of(const SummaryKey& key) const;
  [[nodiscard]] SummaryKey bounded(const SummaryKey& key) const;
  [[nodiscard]] bool files_are_full() const {
    return other_file_ != kNoString && rows_.size() >= kMostRows / 2;
  }
  [[nodiscard]] bool is_full() const {
    return other_file_ != kNoString && rows_.size() >= kMostRows;
  }
  std::vector<SummaryRow> rows_;
  std::vector<std::uint32_t> slots_;
  std::uint32_t other_file_ = kNoString;  // kNoString: without a bound
  std::uint32_t other_name_ = kNoString;
};

// Busy (self) time, calls and bytes per layer in at most kBuckets buckets of equal width, a power
// of two of ns that doubles as the run gets longer.
class Timeline {
 public:
  static constexpr std::size_t kBuckets = 2048;
  static constexpr int kFirstShift = 20;  // the first width is 2^20 ns

  struct Cell {
    std::int64_t busy = 0;
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
  };
  struct Row {
    std::int64_t ts;
    std::int64_t width;
    std::uint32_t layer;
    Cell cell;
  };

  // An event is busy when nothing inside it is; calls and bytes count where it began. Of the time
  // inside it that has no place, every moment has the same part.
  void add(std::uint32_t layer, std::int64_t ts, std::int64_t dur, const Inside::Inner& inner,
           std::int64_t bytes, std::int64_t calls = 1);
  // Time of something else, inside an event of this layer.
  void take(std::uint32_t layer, std::int64_t ts, std::int64_t dur, std::int64_t time) {
    if (time > 0) spread(layer, ts, dur, -time);
  }
  void add(const Row& row);
  void add(const Timeline& other, const Strings& from, Strings& to);
  [[nodiscard]] std::int64_t width() const { return std::int64_t{1} << shift_; }
  // The width as a power of two, once there is a bucket for this time.
  int shift_at(std::int64_t ts) {
    reach(ts);
    return shift_;
  }
  [[nodiscard]] std::vector<Row> rows()
      const;  // only buckets in which something happened, by (layer, ts)
  void clear();

 private:
  std::vector<Cell>& cells(std::uint32_t layer);
  std::vector<Cell>& cells_until(std::uint32_t layer, std::size_t last);
  std::size_t reach(std::int64_t ts);  // the bucket of ts, widening as needed
  // Adds to the busy time of the buckets that [ts, ts + dur] lies in, evenly.
  void spread(std::uint32_t layer, std::int64_t ts, std::int64_t dur, std::int64_t time);
  void widen();

  int shift_ = kFirstShift;
  std::vector<std::pair<std::uint32_t, std::vector<Cell>>> layers_;
};

}  // namespace fathom::trace
