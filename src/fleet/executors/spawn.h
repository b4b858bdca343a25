// SPDX-License-Identifier: MIT
// Starting a process that has nothing of ours: no blocked signals, no ignored ones, no descriptors
// but the three that it is given.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::fleet {

struct Spawn {
  std::vector<std::string> words;
  int out = -1;  // descriptors; -1: /dev/null
  int err = -1;
  bool own_session = false;  // a process group that can be ended as one, and no terminal
};
Result<pid_t> spawn(const Spawn& wanted);

}  // namespace fathom::fleet
