// SPDX-License-Identifier: MIT
// What the views share: columns by name, the time that shares are taken of, and groups of the
// summary.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/report.h"
#include "analysis/store.h"
#include "base/cell.h"
#include "base/result.h"
#include "base/table.h"

namespace fathom::analysis {

// The position of a column; the table must have it.
[[nodiscard]] std::size_t column_of(const Table& table, std::string_view name);

void set_measures(Table& table,
                  std::initializer_list<std::pair<std::string_view, Measure>> measures);
// Columns that a narrow line does without, the first of these first; the others always stay.
void set_ranks(Table& table, std::initializer_list<std::string_view> least_first);

// `top` of the options, or the view's own number; 0 is all.
[[nodiscard]] std::int64_t rows_wanted(const ViewOptions& options, std::int64_t own_choice);
// "LIMIT 10", or nothing for all.
[[nodiscard]] std::string limit_sql(std::int64_t rows);
// Takes the last column, `all_rows`, away and gives its value.
std::int64_t take_row_count(Table& table);
// Says under the table how many rows were left out.
void note_left_out(Table& table, std::int64_t all_rows, std::string_view what);

// Says under a table of calls that there are none, and where samples are shown if there are any.
Status note_no_calls(Store& store, Table& table, std::string_view for_samples);

// Says under a table of files how many calls belong to files that have no row of their own.
Status note_other_files(Store& store, Table& table);

// What 100 % is.
struct TimeBase {
  std::int64_t begin = 0;  // of what is looked at; 0 but for a part of the run
  std::int64_t wall = 0;   // of the run
  std::int64_t thread_time =
      0;  // sum of the lives of all threads; at least the time in recorded calls
  std::int64_t in_calls = 0;  // self time of everything recorded
  std::int64_t threads = 0;
  std::int64_t processes = 0;
  std::int64_t events = 0;
};
Result<TimeBase> time_base(Store& store);

// Makes `waits` a table: it takes a look at every sample, and several questions of a report ask it.
Status hold_waits(Store& store);

// The note of a table of calls that has no rows; of a part of the run it says "matches".
inline constexpr std::string_view kNoCalls = "no call was recorded";

[[nodiscard]] Value percent_of(std::int64_t part, std::int64_t whole);  // NULL of nothing

// Columns of the summary that reports can be grouped by.
inline constexpr std::string_view kGroups[] = {"layer", "name", "category", "file",
                                               "pid",   "host", "program"};

// A line of `count` points: values at their places, and `between` where there is none.
[[nodiscard]] List dense(const Value& places, const Value& values, std::int64_t count,
                         const Value& between);

// "a, b" as quoted identifiers, each behind `prefix`.
[[nodiscard]] std::string columns_sql(const std::vector<std::string>& names,
                                      std::string_view prefix = "");

}  // namespace fathom::analysis
