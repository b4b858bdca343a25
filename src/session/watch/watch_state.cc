// SPDX-License-Identifier: MIT
// Pids are stored with their start times, since the next daemon may come after a pid was reused,
// and is ignored after a reboot.
#include "session/watch/watch_state.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/clock.h"
#include "base/files.h"
#include "base/host.h"
#include "base/private_files.h"
#include "base/text.h"

namespace fathom::session {
namespace {

constexpr std::string_view kTitle = "fathom-watch 1";

std::string path_of(const std::string& socket) { return socket + ".state"; }

std::int64_t touched_ns(const std::string& path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) return 0;
  return facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec;
}

// The fields of /proc/PID/stat from the third on: the name before them may hold anything.
std::optional<std::int64_t> field(std::string_view stat, std::size_t number) {
  const std::size_t close = stat.rfind(") ");
  if (close == std::string_view::npos) return std::nullopt;
  const std::vector<std::string_view> words = split(stat.substr(close + 2), ' ');
  if (number < 3 || words.size() <= number - 3) return std::nullopt;
  const Result<std::int64_t> value = parse_int(trim(words[number - 3]));
  return value ? std::optional(*value) : std::nullopt;
}

std::string stat_of(pid_t process) {
  const Result<std::string> text = read_file("/proc/" + std::to_string(process) + "/stat");
  return text ? *text : "";
}

std::multimap<pid_t, pid_t> children_of_all() {
  std::multimap<pid_t, pid_t> children;
  const Result<std::vector<std::string>> names = list_dir("/proc");
  if (!names) return children;
  for (const std::string& name : *names) {
    const Result<std::int64_t> pid = parse_int(name);
    if (!pid) continue;
    const auto process = static_cast<pid_t>(*pid);
    if (const std::optional<pid_t> parent = parent_in_stat(stat_of(process)))
      children.emplace(*parent, process);
  }
  return children;
}

}  // namespace

std::string format_watch_state(const WatchState& state) {
  std::string text = std::string(kTitle) + "\nboot " + state.boot + "\nalive " +
                     std::to_string(state.alive_ns) + "\n";
  for (const KnownProcess& one : state.processes)
    text += std::to_string(one.pid) + " " + std::to_string(one.started) + "\n";
  return text;
}

Result<WatchState> parse_watch_state(std::string_view text) {
  const Error damaged{Code::kCorrupt, "a daemon's state is damaged", ""};
  std::vector<std::string_view> lines = split(text, '\n');
  if (lines.size() < 4 || lines[0] != kTitle || !lines[1].starts_with("boot ") ||
      !lines[2].starts_with("alive ") || !lines.back().empty())
    return damaged;
  const Result<std::int64_t> alive = parse_int(lines[2].substr(sizeof "alive"));
  if (!alive) return damaged;
  WatchState state{std::string(lines[1].substr(sizeof "boot")), *alive, {}};
  for (std::size_t i = 3; i + 1 < lines.size(); ++i) {
    const std::vector<std::string_view> words = split(lines[i], ' ');
    const Result<std::int64_t> pid = parse_int(words.front());
    const Result<std::int64_t> started = parse_int(words.back());
    if (words.size() != 2 || !pid || !started || *pid <= 0 || *pid > INT32_MAX) return damaged;
    state.processes.push_back({static_cast<pid_t>(*pid), *started});
  }
  return state;
}

std::optional<std::int64_t> start_in_stat(std::string_view stat) {
  constexpr std::size_t kStart = 22;
  return field(stat, kStart);
}

std::optional<pid_t> parent_in_stat(std::string_view stat) {
  constexpr std::size_t kParent = 4;
  const std::optional<std::int64_t> parent = field(stat, kParent);
  return parent ? std::optional(static_cast<pid_t>(*parent)) : std::nullopt;
}

std::optional<std::int64_t> start_of(pid_t process) { return start_in_stat(stat_of(process)); }

std::vector<pid_t> survivors(const WatchState& state) {
  if (state.boot != this_host().boot_id) return {};
  std::vector<pid_t> found;
  for (const KnownProcess& one : state.processes) {
    if (start_of(one.pid) == one.started) found.push_back(one.pid);
  }
  if (found.empty()) return found;
  const std::multimap<pid_t, pid_t> children = children_of_all();
  std::set<pid_t> known(found.begin(), found.end());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [begin, end] = children.equal_range(found[i]);
    for (auto child = begin; child != end; ++child) {
      if (known.insert(child->second).second) found.push_back(child->second);
    }
  }
  return found;
}

WatchState Roll::call(const std::vector<sources::Followed>& processes) {
  if (boot_.empty()) boot_ = this_host().boot_id;
  WatchState state{boot_, now_realtime_ns(), {}};
  std::map<sources::Followed, std::int64_t> started;
  for (const sources::Followed& one : processes) {
    const auto known = started_.find(one);
    const std::optional<std::int64_t> when =
        known == started_.end() ? start_of(one.process) : known->second;
    if (!when) continue;  // gone before we looked
    started.emplace(one, *when);
    state.processes.push_back({one.process, *when});
  }
  started_ = std::move(started);
  return state;
}

Status Roll::save(const std::string& socket, const std::vector<sources::Followed>& processes) {
  const WatchState state = call(processes);
  const bool is_same = saved_ == state.processes;
  if (is_same && ::utimensat(AT_FDCWD, path_of(socket).c_str(), nullptr, AT_SYMLINK_NOFOLLOW) == 0)
    return {};
  saved_ = state.processes;
  return save_watch_state(socket, state);
}

Status save_watch_state(const std::string& socket, const WatchState& state) {
  return write_private_atomic(path_of(socket), format_watch_state(state));
}

std::optional<WatchState> load_watch_state(const std::string& socket) {
  const Result<std::string> text = read_file(path_of(socket));
  Result<WatchState> state = text ? parse_watch_state(*text) : Result<WatchState>(text.error());
  if (!state) return std::nullopt;
  state->alive_ns = std::max(state->alive_ns, touched_ns(path_of(socket)));
  return std::move(state).value();
}

}  // namespace fathom::session
