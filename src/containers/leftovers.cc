// SPDX-License-Identifier: MIT
// The kernel hands orphans to the nearest ancestor that asked for them (PR_SET_CHILD_SUBREAPER), so
// that a tree of processes stays one, whoever forks twice in it.
#include "containers/leftovers.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/proc_text.h"
#include "base/text.h"

namespace fathom::containers {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kPatienceNs = 10 * kSecondNs;  // for each step
constexpr useconds_t kPauseUs = 10'000;

bool is_subreaper() {
  int value = 0;
  return ::prctl(PR_GET_CHILD_SUBREAPER, &value) == 0 && value != 0;
}

std::string program_of(const std::string& pid) {
  std::error_code failed;
  return std::filesystem::read_symlink("/proc/" + pid + "/exe", failed);
}

}  // namespace

std::set<pid_t> descendants_of(pid_t pid) {
  std::set<pid_t> found;
  std::vector<pid_t> to_ask = {pid};
  while (!to_ask.empty()) {
    const std::string tasks = "/proc/" + std::to_string(to_ask.back()) + "/task";
    to_ask.pop_back();
    const Result<std::vector<std::string>> threads = list_dir(tasks);
    for (const std::string& thread : threads ? *threads : std::vector<std::string>()) {
      const Result<std::string> text = read_file(join_path(tasks, thread + "/children"));
      for (const pid_t child : parse_pids(text ? *text : "")) {
        if (child > 1 && found.insert(child).second) to_ask.push_back(child);
      }
    }
  }
  return found;
}

Leftovers::Leftovers() : before_(descendants_of(::getpid())), was_subreaper_(is_subreaper()) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

Leftovers::~Leftovers() {
  if (!was_subreaper_) ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

// What has ended and is our child goes on the way.
Leftovers::Found Leftovers::find() const {
  const std::string own = program_of("self");
  Found found;
  for (const pid_t pid : descendants_of(::getpid())) {
    if (before_.contains(pid) || ::waitpid(pid, nullptr, WNOHANG) == pid) continue;
    const std::string number = std::to_string(pid);
    const Result<std::string> text = read_file("/proc/" + number + "/stat");
    const std::optional<ProcessStat> stat = parse_process_stat(text ? *text : "");
    if (!stat || stat->vsize_bytes == 0) {
      found.ending.insert(pid);
    } else {
      (program_of(number) == own ? found.recorders : found.strangers).insert(pid);
    }
  }
  return found;
}

// Recorders end by themselves when nobody is left to record, then when asked to, then by force.
Leftovers::Counts Leftovers::end_all() {
  std::set<pid_t> seen;
  Found found = find();
  for (const int signal : {0, SIGTERM, SIGKILL}) {
    for (const pid_t pid : found.recorders) (void)::kill(pid, signal);
    const std::int64_t begin = now_monotonic_ns();
    for (; !found.empty() && now_monotonic_ns() < begin + kPatienceNs; found = find()) {
      for (const pid_t pid : found.strangers) (void)::kill(pid, SIGKILL);
      seen.insert(found.strangers.begin(), found.strangers.end());
      ::usleep(kPauseUs);
    }
  }
  const std::size_t alive = found.strangers.size() + found.recorders.size();
  return {.ended = seen.size() - std::min(found.strangers.size(), seen.size()), .alive = alive};
}

}  // namespace fathom::containers
