// SPDX-License-Identifier: MIT
// Reads NSpid of all processes at once and keeps the table, because a look at /proc is slow. A pid
// that is not in it is looked for anew, once; keys that have ended are remembered.
#include "trace/spool/pid_spaces.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "wire/spool.h"

namespace fathom::trace {
namespace {

constexpr std::uint64_t kFirstNamespace = 0xEFFFFFFC;  // of the machine: all others are beneath it
constexpr std::size_t kMostGone = 4096;

std::uint64_t namespace_of(const std::string& process) {
  struct stat facts {};
  return ::stat((process + "/ns/pid").c_str(), &facts) == 0 ? facts.st_ino : 0;
}

}  // namespace

std::uint64_t own_pid_namespace() { return namespace_of("/proc/self"); }

PidSpaces::PidSpaces(std::uint64_t home, bool one_tree, std::string proc)
    : proc_(std::move(proc)),
      own_(namespace_of(proc_ + "/self")),
      home_(home),
      one_tree_(one_tree) {}

bool PidSpaces::may_hide() const { return own_ != kFirstNamespace && own_ != 0 && !one_tree_; }

// A namespace in which nobody was ever seen may be one of ours in which all have ended, or one
// beside ours in which they live.
bool PidSpaces::shows(std::uint32_t space) const { return !may_hide() || below_.contains(space); }

bool PidSpaces::sees_home() {
  if (home_ == 0 || own_ == 0 || home_ == own_ || own_ == kFirstNamespace) return true;
  read_processes();
  return std::ranges::any_of(known_,
                             [&](const Known& one) { return one.space == fathom_space(home_); });
}

// The pids that a process has from our namespace down to its own. One that has a single pid is in
// ours, also where we may not ask (an init that nobody may trace).
bool PidSpaces::read_one(std::uint32_t pid, Known& known) const {
  const std::string process = join_path(proc_, std::to_string(pid));
  const Result<std::string> status = read_file(process + "/status");
  if (!status) return false;
  constexpr std::string_view kKey = "\nNSpid:";
  const std::size_t at = status->find(kKey);
  if (at == std::string::npos) return false;
  const std::size_t from = at + kKey.size();
  const std::string_view line =
      trim(std::string_view(*status).substr(from, status->find('\n', from) - from));
  const std::size_t last = line.find_last_of(" \t");
  const Result<std::int64_t> inner =
      parse_int(last == std::string_view::npos ? line : line.substr(last + 1));
  if (!inner) return false;
  const bool is_ours = last == std::string_view::npos;
  known = {pid, static_cast<std::uint32_t>(*inner),
           fathom_space(is_ours ? own_ : namespace_of(process))};
  return true;
}

void PidSpaces::read_processes() {
  known_.clear();
  hidden_ = !path_exists(proc_ + "/1");
  fresh_ = true;
  const Result<std::vector<std::string>> names = list_dir(proc_);
  if (!names) {
    hidden_ = true;
    return;
  }
  for (const std::string& name : *names) {
    const Result<std::int64_t> pid = parse_int(name);
    Known known;
    if (!pid || !read_one(static_cast<std::uint32_t>(*pid), known)) continue;
    known_.push_back(known);
    if (known.space != FATHOM_SPACE_UNKNOWN) below_.insert(known.space);
  }
}

std::vector<std::uint32_t> PidSpaces::living(std::uint32_t number, std::uint32_t space) const {
  const auto is_meant = [&](const Known& one) {
    return one.inner == number && (one.space == space || space == FATHOM_SPACE_UNKNOWN ||
                                   one.space == FATHOM_SPACE_UNKNOWN);
  };
  std::vector<std::uint32_t> pids;
  for (const Known& one : known_) {
    Known now;
    if (is_meant(one) && (fresh_ || (read_one(one.pid, now) && is_meant(now))))
      pids.push_back(one.pid);
  }
  return pids;
}

PidSpaces::Here PidSpaces::find(const Pid& pid, std::uint64_t key) {
  if (pid.space == 0 && (home_ == 0 || home_ == own_ || own_ == 0)) return {{pid.number}, false};
  const std::uint32_t space = pid.space != 0 ? pid.space : fathom_space(home_);
  if (own_ != 0 && space == fathom_space(own_)) return {{pid.number}, false};
  if (key != 0 && gone_.contains({pid, key})) return {};
  Here here{living(pid.number, space), false};
  if (here.pids.empty()) {
    read_processes();  // it may have begun since we looked
    here.pids = living(pid.number, space);
  }
  here.hidden = hidden_ || !shows(space);
  if (!here.pids.empty() || here.hidden) return here;
  if (gone_.size() >= kMostGone) gone_.clear();
  if (key != 0) gone_.insert({pid, key});
  return here;
}

}  // namespace fathom::trace
