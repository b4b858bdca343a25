// SPDX-License-Identifier: MIT
// What an application used over a run, as series: by the counters of its control group where it had
// one of its own, else by those of its processes.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "analysis/application/series.h"
#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

// What is empty was not measured; `of_group` says by which of the two ways.
struct Usage {
  bool of_group = false;
  Growth cpu{{}};    // seconds
  Level memory{{}};  // bytes: the working set, or resident sets
  Growth disk_read{{}}, disk_written{{}}, received{{}}, sent{{}};  // bytes
  Level pids{{}};
  Level gpu_memory{{}}, gpu_busy{{}};
  bool gpu_of_device = false;  // of whoever used it, not of the application's processes
  std::optional<double> memory_peak, memory_limit, cpu_limit, pids_limit;
  double most_inactive_file = 0;
  double waited_cpu_s = 0;  // a thread of it could have run, and others did
  double oom_kills = 0, throttled_s = 0, throttled_periods = 0, periods = 0, pids_refused = 0;
  std::map<std::string, std::string> facts;  // of the recording
};

Result<Usage> usage_of(Store& store);

}  // namespace fathom::analysis
