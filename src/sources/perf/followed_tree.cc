// SPDX-License-Identifier: MIT
// Who starts a process is known as long as both live: a stranger's child that outlives it is one,
// too, since it was met below it before.
#include "sources/perf/followed_tree.h"

#include <algorithm>
#include <utility>

namespace fathom::sources {

void FollowedTree::join(pid_t pid) {
  ProcessTree below(proc_);
  below.add(pid);
  for (const ProcessStat& stat : below.refresh()) {
    if (stat.pid == pid) {
      followed_[pid] = stat.start_ticks;
    } else if (!followed_.contains(stat.pid)) {
      strangers_[stat.pid] = stat.start_ticks;
    }
  }
  strangers_.erase(pid);
  tree_.add(pid);
}

void FollowedTree::leave(pid_t pid) {
  (void)refresh();  // children that it has by now are followed
  const auto found = followed_.find(pid);
  if (found == followed_.end()) return;
  strangers_[pid] = found->second;
  followed_.erase(found);
}

bool FollowedTree::is_stranger(const ProcessStat& stat) const {
  const auto found = strangers_.find(stat.pid);
  return found != strangers_.end() && found->second == stat.start_ticks;
}

void FollowedTree::find_strangers(const std::vector<ProcessStat>& all) {
  for (bool grew = true; grew;) {  // a child may have a smaller number than its parent
    grew = false;
    for (const ProcessStat& stat : all) {
      if (followed_.contains(stat.pid) || is_stranger(stat) || !strangers_.contains(stat.ppid))
        continue;
      strangers_[stat.pid] = stat.start_ticks;
      grew = true;
    }
  }
}

void FollowedTree::forget_ended(const std::vector<ProcessStat>& all, Starts& of) {
  Starts alive;
  for (const ProcessStat& stat : all) {
    const auto known = of.find(stat.pid);
    if (known != of.end() && known->second == stat.start_ticks) alive.insert(*known);
  }
  of = std::move(alive);
}

std::vector<ProcessStat> FollowedTree::refresh() {
  std::vector<ProcessStat> all = tree_.refresh();
  forget_ended(all, followed_);
  find_strangers(all);
  forget_ended(all, strangers_);
  std::erase_if(all, [this](const ProcessStat& stat) { return is_stranger(stat); });
  for (const ProcessStat& stat : all) followed_[stat.pid] = stat.start_ticks;
  return all;
}

}  // namespace fathom::sources
