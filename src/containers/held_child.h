// SPDX-License-Identifier: MIT
// A child in a process group of its own whose output comes by pipes, held until somebody is ready
// to record it.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "session/signal_queue.h"

namespace fathom::containers {

struct ChildSpec {
  std::string path = {};                      // of the program
  std::vector<std::string> words = {};        // argv
  std::vector<std::string> environment = {};  // NAME=value
  std::string folder = {};                    // to start in
  std::vector<Fd> groups = {};  // cgroup.procs of control groups, which it enters before all else
  int on_our_death = SIGKILL;   // what it gets then
};

// Owns the pipes, not the process: whoever has it waits for the child.
struct HeldChild {
  pid_t pid = 0;
  Fd out, err;     // what it writes
  Fd watch;        // readable when it has ended
  Fd go, failure;  // until it is let go
};

// Whoever drops it before it was let go has to reap it: it ends by itself. Threads may run.
Result<HeldChild> hold_child(const ChildSpec& spec, const session::SignalQueue& signals);

// It becomes the program. Otherwise it has ended and is reaped: kDenied, in words that
// refusal_status() knows.
Status let_go(HeldChild& child, const std::string& name);

}  // namespace fathom::containers
