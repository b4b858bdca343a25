// SPDX-License-Identifier: MIT
// Processes that are followed by /proc: those that were named, and what they start from then on.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sources/process_tree.h"

namespace fathom::sources {

// One thread at a time.
class FollowedTree {
 public:
  explicit FollowedTree(std::string proc = "/proc") : proc_(std::move(proc)), tree_(proc_) {}

  // A program that is about to begin: whatever is below it is its own.
  void adopt(pid_t pid) { tree_.add(pid); }
  // One that runs. Children that it has by now are not followed, unless they are named, too.
  void join(pid_t pid);
  // One that runs and is not followed any more, nor what it starts; children that it has are.
  void leave(pid_t pid);
  [[nodiscard]] bool has(pid_t pid) const { return followed_.contains(pid); }

  // Those that live, as ProcessTree::refresh() gives them.
  [[nodiscard]] std::vector<ProcessStat> refresh();

 private:
  using Starts = std::map<pid_t, std::uint64_t>;  // in ticks: a number may be another's later

  [[nodiscard]] bool is_stranger(const ProcessStat& stat) const;
  void find_strangers(const std::vector<ProcessStat>& all);
  static void forget_ended(const std::vector<ProcessStat>& all, Starts& of);

  std::string proc_;
  ProcessTree tree_;
  Starts followed_;   // as of the last time
  Starts strangers_;  // that are below those that are followed
};

}  // namespace fathom::sources
