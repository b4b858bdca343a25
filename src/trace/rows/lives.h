// SPDX-License-Identifier: MIT
// Processes and threads that sources beside the programs saw.
#pragma once

#include <vector>

#include "trace/rows/batch.h"

namespace fathom::trace {

// A process or a thread may be told of more than once: what comes later knows more.
struct Lives {
  std::vector<ProcessRow> processes;
  std::vector<ThreadRow> threads;

  [[nodiscard]] bool empty() const { return processes.empty() && threads.empty(); }
  void add(const Lives& more) {
    processes.insert(processes.end(), more.processes.begin(), more.processes.end());
    threads.insert(threads.end(), more.threads.begin(), more.threads.end());
  }
};

}  // namespace fathom::trace
