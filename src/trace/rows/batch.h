// SPDX-License-Identifier: MIT
// Rows of the recording's tables on their way into Parquet or into a query, as columns. Texts are
// codes of one Strings that goes with the batch. Column names and their meaning:
// docs/formats/recording.md (Tables).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "trace/rows/column.h"
#include "trace/rows/strings.h"

namespace fathom::trace {

// NULL in a column of integers. Texts have kNoString.
inline constexpr std::int64_t kNull = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int32_t kNull32 = std::numeric_limits<std::int32_t>::min();

// The MAP column: entries of all rows behind each other. Add the entries of a row, then end_row().
class Args {
 public:
  void add(std::uint32_t key, std::string_view value);
  void end_row() { row_ends_.push_back(static_cast<std::uint32_t>(keys_.size())); }

  void reserve(std::size_t rows) { row_ends_.reserve(rows); }
  void drop_open();  // forgets entries added since the last end_row()

  [[nodiscard]] std::size_t rows() const { return row_ends_.size(); }
  [[nodiscard]] std::size_t entries() const { return keys_.size(); }
  [[nodiscard]] std::size_t begin(std::size_t row) const {
    return row == 0 ? 0 : row_ends_[row - 1];
  }
  [[nodiscard]] std::size_t end(std::size_t row) const { return row_ends_[row]; }
  [[nodiscard]] std::uint32_t key(std::size_t entry) const { return keys_[entry]; }
  [[nodiscard]] std::string_view value(std::size_t entry) const {
    const std::size_t from = entry == 0 ? 0 : text_ends_[entry - 1];
    return std::string_view(text_).substr(from, text_ends_[entry] - from);
  }
  void clear();

 private:
  Column<std::uint32_t> row_ends_;
  std::vector<std::uint32_t> keys_;
  std::vector<std::size_t> text_ends_;
  std::string text_;
};

// One event, for those who make them one by one (importers). Entries of args go into
// EventBatch::args before push().
struct EventRow {
  std::int64_t ts = 0;
  std::int64_t dur = 0;
  std::int32_t pid = kNull32;
  std::int32_t tid = kNull32;
  std::int32_t rank = kNull32;
  std::int32_t depth = kNull32;
  std::uint32_t layer = kNoString;
  std::uint32_t name = kNoString;
  std::uint32_t category = kNoString;
  std::uint32_t file = kNoString;
  std::uint32_t error = kNoString;
  std::uint32_t entry = kNoString;  // libc's entry point, `open64` for name `open`
  std::uint32_t host = kNoString;   // kNoString: the manifest's
  std::uint32_t program = kNoString;
  std::int32_t fd = kNull32;
  std::int64_t offset = kNull;
  std::int64_t size = kNull;
  std::int64_t bytes = kNull;
  std::int64_t ret = kNull;
  std::int32_t device = kNull32;
  std::int64_t stream = kNull;
  std::int64_t correlation = kNull;
  std::int64_t self = kNull;  // dur without the events inside; kNull: there are none, it is dur
};

// The columns of `events`. All have rows() values but `host`, `program`, `rank`, `device`,
// `stream`, `correlation` and `self`, which may be empty: then every row is NULL there (and host is
// the manifest's).
struct EventBatch {
  Column<std::int64_t> ts, dur;
  Column<std::int32_t> pid, tid, depth, fd;
  Column<std::uint32_t> layer, name, category, file, error, entry;
  Column<std::int64_t> offset, size, bytes, ret;
  Column<std::int32_t> rank, device;
  Column<std::int64_t> stream, correlation, self;
  Column<std::uint32_t> host, program;
  Args args;

  [[nodiscard]] std::size_t rows() const { return ts.size(); }
  void push(const EventRow& row);
  void append(const EventBatch& other);
  [[nodiscard]] EventRow row(std::size_t at) const;
  void clear();
  void reserve(std::size_t count);
  // Orders the rows by (pid, tid, ts, depth): what makes the Parquet files small.
  void sort();

 private:
  [[nodiscard]] bool is_in_order() const;
  [[nodiscard]] Column<std::uint32_t> time_order() const;
};

// One value of a counter.
struct CounterRow {
  std::int64_t ts = 0;
  std::int32_t pid = kNull32;
  std::int32_t tid = kNull32;
  std::uint32_t layer = kNoString;
  std::uint32_t name = kNoString;
  std::uint32_t unit = kNoString;
  std::uint32_t host = kNoString;
  double value = 0;
};

struct CounterBatch {
  std::vector<CounterRow> rows;  // few against events: rows are simpler
  void sort();                   // by (pid, name, ts)
};

// Counts of an interval (DataCrumbs' kind). hist[i] counts 2^i <= dur < 2^(i+1) ns.
struct IntervalRow {
  std::int64_t ts = 0;
  std::int64_t width = 0;
  std::int32_t pid = kNull32;
  std::int32_t tid = kNull32;
  std::uint32_t layer = kNoString;
  std::uint32_t name = kNoString;
  std::uint32_t category = kNoString;  // for sums; the table has no such column
  std::uint32_t file = kNoString;
  std::uint32_t peer = kNoString;  // as args['peer'] of events
  std::uint32_t host = kNoString;
  std::uint32_t program = kNoString;  // for sums, as is `process`: who of a pid's programs it was,
  std::uint64_t process = 0;          // where that is known
  std::int64_t calls = 0;
  std::int64_t errors = 0;
  std::int64_t dur = 0;
  std::int64_t dur_min = kNull;
  std::int64_t dur_max = kNull;
  std::int64_t bytes = kNull;
  std::vector<std::int64_t> hist;
};

struct IntervalBatch {
  std::vector<IntervalRow> rows;
};

// A row of `processes`: a process and one program image of it. Texts may be empty: NULL.
struct ProcessRow {
  std::string host;
  std::int64_t pid = kNull;
  std::int64_t ppid = kNull;
  std::int64_t nspid = kNull;  // in its own pid namespace, where that is another
  std::string name;            // the program's base name
  std::string command;         // argv joined by spaces
  std::int64_t start = kNull;
  std::int64_t end = kNull;
  std::int64_t exit = kNull;
  std::int64_t rank = kNull;
  std::int64_t image = 0;     // programs that the process was before, as far as they were seen
  std::uint64_t process = 0;  // names this program image in the recording; 0: nothing does
  std::string container;
  std::string rung;                                       // how its threads were sampled; "": not
  std::vector<std::pair<std::string, std::string>> meta;  // further facts that the program gave
};

// A row of `threads`: a thread of one program image. Texts may be empty: NULL.
struct ThreadRow {
  std::string host;
  std::int64_t pid = kNull;
  std::int64_t tid = kNull;
  std::string name;
  std::int64_t start = kNull;
  std::int64_t end = kNull;
  std::int64_t rank = kNull;
  std::string container;
  std::int64_t ready = kNull;  // ns in which it could have run and was not let
};

}  // namespace fathom::trace
