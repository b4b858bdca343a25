// SPDX-License-Identifier: MIT
// Events on all threads of a process that runs, while it may make and end threads.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>

#include "base/result.h"
#include "sources/perf/record_queue.h"
#include "sources/perf/sampled_events.h"

namespace fathom::sources {

// What became of following a process that runs.
struct FollowedThreads {
  std::set<pid_t> threads;    // that were there; those that they made since are told by records
  std::uint64_t refused = 0;  // threads without events
  Error why = {};             // the first of them was
};

// kNotFound: the process has ended. Another Error: none of its threads can be followed. Records
// that come meanwhile are added to the queue.
Result<FollowedThreads> follow_process(pid_t process, SampledEvents& events, RecordQueue& records);

}  // namespace fathom::sources
