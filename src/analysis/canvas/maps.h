// SPDX-License-Identifier: MIT
// Pictures of cells: who did how much when, and where in a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

struct HeatOptions {
  std::string rows = "thread";   // thread, process, rank, file
  std::string what = "bytes";    // bytes, calls, time
  std::string category = "all";  // read, write, all
  std::int64_t bins = 120;
  std::int64_t top = 50;  // rows, those with most first; others are counted
};

// Rows by activity, the most active first.
struct HeatMap {
  std::int64_t from = 0;  // of the first bin
  std::int64_t bin_ns = 1;
  std::string unit;
  struct Row {
    std::string id;    // a thread's "host/pid/tid", a path
    std::string name;  // for people
    std::vector<std::int64_t> cells;
  };
  std::vector<Row> rows;
  std::int64_t left_out = 0;  // rows
};
// kUsage for a word that nobody knows.
Result<HeatMap> heat_map(Store& store, const HeatOptions& options);

struct OffsetOptions {
  std::string file;
  std::int64_t bins = 120;  // over time
  std::int64_t offset_bins = 64;
};

// Bytes that were read and written, by place in the file and by time.
struct OffsetMap {
  std::int64_t from = 0;
  std::int64_t time_bin_ns = 1;
  std::int64_t offset_bin = 1;                         // bytes
  std::vector<std::vector<std::int64_t>> read, write;  // rows are places, from the file's begin
  std::int64_t without_place = 0;                      // calls that moved bytes nobody knows where
};
// kNotFound where no call moved bytes of the file.
Result<OffsetMap> offset_map(Store& store, const OffsetOptions& options);

}  // namespace fathom::analysis
