// SPDX-License-Identifier: MIT
// Which processes of the machine a choice means, as /proc and the control group's files tell.
#pragma once

#include <sys/types.h>

#include <set>
#include <vector>

#include "sources/source.h"

namespace fathom::sources {

// One thread at a time.
class ChosenProcesses {
 public:
  explicit ChosenProcesses(Choice choice) : choice_(std::move(choice)) {}

  // Members of a control group are read again.
  void refresh();
  [[nodiscard]] bool has(pid_t process) const;
  // Those that run now.
  [[nodiscard]] std::vector<pid_t> running() const;

 private:
  Choice choice_;
  std::set<pid_t> members_;  // of the control group
};

}  // namespace fathom::sources
