// SPDX-License-Identifier: MIT
// The processes of a recording while they live: the program, its descendants, and those that are
// named.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/proc_text.h"
#include "sources/resources/cgroup.h"

namespace fathom::sources {

// One thread.
class ProcessTree {
 public:
  explicit ProcessTree(std::string proc = "/proc") : proc_(std::move(proc)) {}

  // Takes a process in; one that does not exist is forgotten at the next refresh.
  void add(pid_t pid) { known_.try_emplace(pid); }
  [[nodiscard]] bool knows(pid_t pid) const { return known_.contains(pid); }
  [[nodiscard]] std::set<pid_t> pids() const {
    std::set<pid_t> pids;
    for (const auto& [pid, seen] : known_) pids.insert(pid);
    return pids;
  }

  // Looks for new children of the known, forgets the dead, and gives the stat of everyone alive. A
  // process that has ended and waits for its parent is given once, with state Z, and not again.
  std::vector<ProcessStat> refresh();

 private:
  struct Seen {
    std::uint64_t start_ticks = 0;  // 0: not looked at yet
    bool ended = false;
  };
  void find_children();
  void add_children_of(pid_t pid);
  void scan_for_children();

  std::string proc_;
  std::map<pid_t, Seen> known_;
  bool has_children_files_ = true;
};

}  // namespace fathom::sources
