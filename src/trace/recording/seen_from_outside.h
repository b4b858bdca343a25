// SPDX-License-Identifier: MIT
// Processes and threads that were seen from beside the programs, among those that told of
// themselves.
#pragma once

#include <string>
#include <vector>

#include "trace/rows/batch.h"

namespace fathom::trace {

// Adds those that told nothing of themselves. The last word about one holds. What was sampled
// (`rung`) is told of all.
void add_seen_from_outside(const std::vector<ProcessRow>& seen, const std::string& host,
                           std::vector<ProcessRow>& rows);
// The same of threads, in the order of thread_rows(). One that was sampled (`ready`) has the life
// that the sampler saw, which its stretches on and off the CPU add up to.
void add_seen_from_outside(const std::vector<ThreadRow>& seen, const std::string& host,
                           std::vector<ThreadRow>& rows);

}  // namespace fathom::trace
