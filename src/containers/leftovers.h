// SPDX-License-Identifier: MIT
// Processes that a command of this machine leaves behind: a daemon that has left its parent's tree
// and session outlives it. A container's end would end them; here we do.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <set>

namespace fathom::containers {

// All processes below one, at this moment, zombies among them.
[[nodiscard]] std::set<pid_t> descendants_of(pid_t pid);

// Changes the whole process: while it lives, it is the parent of orphans and has to wait for them.
// One at a time, and one thread.
class Leftovers {
 public:
  // From now on, whoever loses its parent below us becomes our child.
  Leftovers();
  // What was ours before is again as it was.
  ~Leftovers();
  Leftovers(const Leftovers&) = delete;
  Leftovers& operator=(const Leftovers&) = delete;

  struct Counts {
    std::size_t ended = 0;
    std::size_t alive = 0;  // not to be ended
  };
  // Ends all that came since, by SIGKILL, and takes their status. A recorder of ours that has
  // processes to record may complete its recording first.
  Counts end_all();

 private:
  struct Found {
    std::set<pid_t> strangers, recorders, ending;
    [[nodiscard]] bool empty() const {
      return strangers.empty() && recorders.empty() && ending.empty();
    }
  };
  [[nodiscard]] Found find() const;

  std::set<pid_t> before_;
  bool was_subreaper_;
};

}  // namespace fathom::containers
