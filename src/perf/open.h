// SPDX-License-Identifier: MIT
// perf_event_open, and words for every way in which it is refused.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include "base/files.h"
#include "base/result.h"

namespace fathom::perf {

// Whom an event is opened for.
struct Target {
  pid_t pid = 0;            // a thread; 0: the caller; -1: everybody, on one CPU
  int cpu = -1;             // -1: wherever the thread runs
  int group = -1;           // descriptor of the group's leader; -1: none
  unsigned long flags = 0;  // PERF_FLAG_*; close-on-exec is added
};

// Opens an event. A kernel that knows or allows fewer settings than are asked for is asked again
// without the newest ones (records of namespaces, build ids, …), never without one that changes
// what is counted or when: `attr` says afterwards what is set.
//
// An Error is one line (`message`) and the exact line that changes it (`hint`, "" where there is
// none), as sources::Availability tells them. kDenied: this user may not; kUnsupported: this
// machine cannot; kNotFound: no such thread.
Result<Fd> open_event(perf_event_attr& attr, const Target& target);

// What a refusal depends on, besides the errno: the kernel gives the same number for many reasons.
struct RefusalContext {
  int paranoid = 2;  // kernel.perf_event_paranoid
  bool is_root = false;
  bool filtered = false;          // by seccomp
  bool hardware_counters = true;  // are there
  bool foreign = false;           // the thread belongs to another user

  static RefusalContext here(const Target& target);
};

// The words alone.
[[nodiscard]] Error refusal(int number, const perf_event_attr& attr, const Target& target,
                            const RefusalContext& context);

}  // namespace fathom::perf
