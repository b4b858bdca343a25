// SPDX-License-Identifier: MIT
// Reads /proc/PID/task/TID/stat of a bounded number of threads: a group of thousands costs no more.
#include "sources/resources/thread_cores.h"

#include <algorithm>

#include "base/files.h"
#include "base/proc_text.h"
#include "base/text.h"

namespace fathom::sources {
namespace {

constexpr std::size_t kMostThreads = 256;

}  // namespace

std::map<int, double> ThreadCores::split(const std::set<pid_t>& processes, double grown) {
  std::map<int, double> gained;
  std::map<pid_t, std::uint64_t> seen;
  double all = 0;
  int first_core = -1;
  for (const pid_t process : processes) {
    const std::string tasks = join_path(proc_, std::to_string(process) + "/task");
    const Result<std::vector<std::string>> threads = list_dir(tasks);
    for (const std::string& thread : threads ? *threads : std::vector<std::string>()) {
      if (seen.size() >= kMostThreads) break;
      const Result<std::string> text = read_file(join_path(tasks, thread + "/stat"));
      const auto stat = text ? parse_process_stat(*text) : std::nullopt;
      if (!stat || stat->cpu < 0) continue;
      const std::uint64_t ticks = stat->user_ticks + stat->system_ticks;
      seen[stat->pid] = ticks;
      const auto before = ticks_.find(stat->pid);
      const std::uint64_t was = before == ticks_.end() ? 0 : std::min(before->second, ticks);
      gained[stat->cpu] += static_cast<double>(ticks - was);
      all += static_cast<double>(ticks - was);
      if (first_core < 0) first_core = stat->cpu;
    }
  }
  ticks_ = std::move(seen);
  if (all <= 0) return {{std::max(first_core, 0), grown}};
  for (auto& [core, part] : gained) part *= grown / all;
  return gained;
}

}  // namespace fathom::sources
