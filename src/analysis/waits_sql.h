// SPDX-License-Identifier: MIT
// What threads waited for, as SQL that views and rules share.
#pragma once

#include <string>

namespace fathom::analysis {

// A SELECT of one row for each thread, cause, call, object and caller:
//
//   host, pid, tid
//   cause    as in wait_causes.h, or 'other'
//   name     the three that follow in words: "read: /data/in", "wait4: cc1", "pthread_mutex_lock in
//            push"; NULL where nothing is known
//   call     the call that waited
//   object   what it waited for: a file, the other side of a pipe or socket, a child's program
//   caller   the function of the program that made the call
//   time     ns asleep, without what the kernel counted as ready
//   ready    ns in which it could have run already
//   waits    how often
//   longest  ns
//   stacks   that it waited in, as in `samples`
//
// It reads `samples`, `frames`, `threads`, `processes` and `events`.
[[nodiscard]] const std::string& waits_sql();

}  // namespace fathom::analysis
