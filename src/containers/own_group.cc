// SPDX-License-Identifier: MIT
// At the top of the hierarchies, as engines make theirs: below our own group, version 2 would count
// nothing, since that has processes in it. No setting of another group is changed.
#include "containers/own_group.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/os_error.h"
#include "base/proc_text.h"
#include "base/text.h"
#include "containers/owner.h"
#include "session/watch/control_group.h"

namespace fathom::containers {
namespace {

constexpr std::string_view kPrefix = "fathom-run-";  // then the owner's mark
constexpr mode_t kMode = 0755;

void kill_members(const std::string& directory) {
  const Result<std::string> text = read_file(join_path(directory, "cgroup.procs"));
  for (const pid_t pid : parse_pids(text ? *text : "")) {
    if (pid > 1 && pid != ::getpid()) (void)::kill(pid, SIGKILL);
  }
}

// With the groups that its processes made in it, and not without an end.
void remove_group(const std::string& directory, int depth = 0) {
  constexpr int kMostDepth = 16;
  constexpr int kTries = 200;
  constexpr useconds_t kPauseUs = 10'000;
  const Result<std::vector<std::string>> names = list_dir(directory);
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    const std::string below = join_path(directory, name);
    if (depth < kMostDepth && is_directory(below)) remove_group(below, depth + 1);
  }
  for (int i = 0; i < kTries && ::rmdir(directory.c_str()) != 0 && errno == EBUSY; ++i) {
    kill_members(directory);
    ::usleep(kPauseUs);
  }
}

void remove_abandoned_groups(const std::string& top) {
  const Result<std::vector<std::string>> names = list_dir(top);
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    if (name.starts_with(kPrefix) && has_owner_ended(name.substr(kPrefix.size())))
      remove_group(join_path(top, name));
  }
}

bool counts_memory(const std::string& group) {
  return path_exists(join_path(group, "memory.usage_in_bytes")) ||
         path_exists(join_path(group, "memory.current"));
}

}  // namespace

Result<OwnGroup> OwnGroup::make() {
  FATHOM_ASSIGN(const std::string mountinfo, read_file("/proc/self/mountinfo"));
  const std::vector<std::string> tops = session::resource_hierarchies(mountinfo);
  if (tops.empty()) return Error{Code::kUnsupported, "no memory controller is mounted", ""};
  OwnGroup group({});
  for (const std::string& top : tops) {
    remove_abandoned_groups(top);
    const std::string directory = join_path(top, std::string(kPrefix) + own_mark());
    if (::mkdir(directory.c_str(), kMode) == 0) {
      group.directories_.push_back(directory);
    } else if (top == tops[0]) {
      return os_error(errno, "write to " + top);
    }
  }
  if (!counts_memory(group.path()))
    return Error{Code::kUnsupported, "control groups in " + tops[0] + " do not count memory", ""};
  return group;
}

OwnGroup::~OwnGroup() {
  for (const std::string& directory : directories_) remove_group(directory);
}

Result<std::vector<Fd>> OwnGroup::doors() const {
  std::vector<Fd> all;
  for (const std::string& directory : directories_) {
    const std::string path = join_path(directory, "cgroup.procs");
    all.emplace_back(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!all.back().valid()) return os_error(errno, "open " + path);
  }
  return all;
}

}  // namespace fathom::containers
