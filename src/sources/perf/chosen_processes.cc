// SPDX-License-Identifier: MIT
// A choice is asked of /proc and of the control group's files, which change while they are read: a
// process that has ended before it is asked for belongs to nobody, and one that comes later is
// found the next time.
#include "sources/perf/chosen_processes.h"

#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "base/files.h"
#include "base/proc_text.h"
#include "base/text.h"

namespace fathom::sources {
namespace {

void add_numbers(const std::string& file, std::set<pid_t>& to) {
  const Result<std::string> text = read_file(file);
  if (!text) return;
  for (const std::string_view line : split(*text, '\n')) {
    if (const Result<std::int64_t> number = parse_int(line); number && *number > 0)
      to.insert(static_cast<pid_t>(*number));
  }
}

// The group, and those below it.
std::set<pid_t> members_of(const std::string& group) {
  namespace fs = std::filesystem;
  std::set<pid_t> members;
  add_numbers(join_path(group, "cgroup.procs"), members);
  std::error_code failed;
  fs::recursive_directory_iterator at(group, fs::directory_options::skip_permission_denied, failed);
  for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
    std::error_code gone;
    if (at->is_directory(gone)) add_numbers(at->path() / "cgroup.procs", members);
  }
  return members;
}

// The real one, which stands first.
bool is_of_user(pid_t process, uid_t user) {
  const Result<std::string> status = read_file("/proc/" + std::to_string(process) + "/status");
  return status && number_of(*status, "Uid:") == user;
}

}  // namespace

void ChosenProcesses::refresh() {
  if (choice_.by == Choice::By::kGroup) members_ = members_of(choice_.group_path);
}

bool ChosenProcesses::has(pid_t process) const {
  if (process <= 0 || process == ::getpid()) return false;
  switch (choice_.by) {
    case Choice::By::kAll:
      return true;
    case Choice::By::kUser:
      return is_of_user(process, choice_.user);
    case Choice::By::kGroup:
      return members_.contains(process);
    case Choice::By::kProcess:
      return process == choice_.process;
    case Choice::By::kNobody:
      return false;
  }
  return false;
}

std::vector<pid_t> ChosenProcesses::running() const {
  std::vector<pid_t> found;
  const Result<std::vector<std::string>> names = list_dir("/proc");
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    const Result<std::int64_t> process = parse_int(name);
    if (process && has(static_cast<pid_t>(*process))) found.push_back(static_cast<pid_t>(*process));
  }
  return found;
}

}  // namespace fathom::sources
