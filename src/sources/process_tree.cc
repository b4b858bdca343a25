// SPDX-License-Identifier: MIT
// Follows descendants by /proc/PID/task/TID/children, or by all of /proc on kernels without that
// file. A reused pid is recognised by its start time.
#include "sources/process_tree.h"

#include <algorithm>
#include <cctype>

#include "base/files.h"

namespace fathom::sources {

std::vector<ProcessStat> ProcessTree::refresh() {
  find_children();
  std::vector<ProcessStat> alive;
  for (auto at = known_.begin(); at != known_.end();) {
    const Result<std::string> text =
        read_file(join_path(proc_, std::to_string(at->first) + "/stat"));
    std::optional<ProcessStat> stat = text ? parse_process_stat(*text) : std::nullopt;
    Seen& seen = at->second;
    const bool another = stat && seen.start_ticks != 0 && seen.start_ticks != stat->start_ticks;
    if (!stat || another) {  // another process has the number by now: it is none of ours unless
                             // found as a child
      at = known_.erase(at);
      continue;
    }
    seen.start_ticks = stat->start_ticks;
    if (!seen.ended) {
      seen.ended = stat->state == 'Z' || stat->state == 'X';
      alive.push_back(std::move(*stat));
    }
    ++at;
  }
  return alive;
}

void ProcessTree::find_children() {
  std::vector<pid_t> parents;
  for (const auto& [pid, seen] : known_) parents.push_back(pid);
  for (const pid_t pid : parents) {
    if (has_children_files_) add_children_of(pid);
  }
  if (!has_children_files_) scan_for_children();
}

// Children of every thread, and theirs in turn: a tree that grew by several levels since the last
// time is found whole.
void ProcessTree::add_children_of(pid_t pid) {
  const std::string tasks = join_path(proc_, std::to_string(pid) + "/task");
  const Result<std::vector<std::string>> threads = list_dir(tasks);
  if (!threads) return;  // it has ended
  for (const std::string& thread : *threads) {
    const std::string folder = join_path(tasks, thread);
    const Result<std::string> text = read_file(join_path(folder, "children"));
    if (!text) {
      // Without CONFIG_PROC_CHILDREN no thread has the file; one thread that ended just now says
      // nothing.
      has_children_files_ = !path_exists(join_path(folder, "stat"));
      if (!has_children_files_) return;
      continue;
    }
    for (const pid_t child : parse_pids(*text)) {
      if (known_.try_emplace(child).second) add_children_of(child);
    }
  }
}

void ProcessTree::scan_for_children() {
  const Result<std::vector<std::string>> names = list_dir(proc_);
  if (!names) return;
  std::vector<std::pair<pid_t, pid_t>> pairs;  // parent, child
  for (const std::string& name : *names) {
    if (std::isdigit(static_cast<unsigned char>(name[0])) == 0) continue;
    const Result<std::string> text = read_file(join_path(proc_, name + "/stat"));
    const std::optional<ProcessStat> stat = text ? parse_process_stat(*text) : std::nullopt;
    if (stat) pairs.emplace_back(stat->ppid, stat->pid);
  }
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& [parent, child] : pairs) {
      if (known_.contains(parent)) grew |= known_.try_emplace(child).second;
    }
  }
}

}  // namespace fathom::sources
