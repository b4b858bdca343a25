// SPDX-License-Identifier: MIT
// One run in the numbers that are compared. Read from summary, counters and the run's facts, none
// of which grows with the number of events.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/counter_sums.h"
#include "analysis/store.h"
#include "base/result.h"
#include "base/table.h"

namespace fathom::analysis {

// What the calls of a group came to.
struct GroupSum {
  double self = 0;
  double calls = 0;
  bool in_threads = true;  // see sums.h
};
using GroupKey = std::vector<std::string>;  // a text for each column of its grouping
using Groups = std::map<GroupKey, GroupSum>;

// One way to divide a run's time into rows.
struct Grouping {
  std::string_view name;  // of --by
  std::string_view title;
  std::string_view what;  // the rows, for notes
  std::vector<std::string_view> columns;
  bool whole;  // its rows and the time outside of recorded calls are all of the threads' time
};
// layer, name, file, category, pid.
[[nodiscard]] std::span<const Grouping> groupings();

struct Figure {
  std::string name;
  Measure measure = Measure::kNone;
  double value = 0;
};

// What must be the same for a comparison to be fair.
struct RunNature {
  std::string command;
  std::string machine;
  std::string path_filter;
  std::vector<std::string> layers;  // recorded, also if nothing happened in them
  std::string trouble;              // why it is not complete; "" if it is
  std::int64_t lost = 0;
  std::optional<std::int64_t> exit_status;
};

// All that is kept of a run while others are read. Some thousand rows, whatever the length of the
// run.
struct RunSums {
  std::string path;
  std::string directory;  // that it worked in
  std::string recording;  // its directory; of all its recordings, what holds them
  double wall = 0;
  double thread_time = 0;
  double outside = 0;           // of the threads' time: not in recorded calls
  std::vector<Figure> figures;  // of the run as a whole, wall and threads' time too
  std::map<std::string, Groups, std::less<>> groups;  // by the grouping's name
  CounterSums counters;
  RunNature nature;
};

// `path` is how the user named it.
Result<RunSums> read_run(Store& store, const std::string& path);

}  // namespace fathom::analysis
