// SPDX-License-Identifier: MIT
#include "containers/control_groups.h"

#include <ctime>
#include <unistd.h>

#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"

namespace fathom::containers {

std::string group_in(std::string_view text) {
  std::string second;  // of version 2
  for (const std::string_view line : split(text, '\n')) {
    const std::vector<std::string_view> words = split(line, ':');  // number controllers path
    if (words.size() < 3) continue;
    const std::string path(line.substr(words[0].size() + words[1].size() + 2));
    if (path == "/") continue;
    if (words[1].empty()) second = path;
    for (const std::string_view controller : split(words[1], ',')) {
      if (controller == "memory" || controller == "pids" || controller == "cpuacct") return path;
    }
  }
  return second;
}

std::string group_of(pid_t pid) {
  const Result<std::string> text = read_file("/proc/" + std::to_string(pid) + "/cgroup");
  return text ? group_in(*text) : "";
}

pid_t first_in(const std::string& directory) {
  const Result<std::string> text = read_file(join_path(directory, "cgroup.procs"));
  if (!text) return 0;
  const Result<std::int64_t> pid = parse_int(split(*text, '\n').front());
  return pid ? static_cast<pid_t>(*pid) : 0;
}

std::int64_t start_of_process(pid_t pid) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  constexpr std::size_t kStart = 20;  // field 22, counted from the blank behind the name
  const Result<std::string> stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat ? stat->rfind(')') : std::string::npos;
  if (name_end == std::string::npos) return 0;
  const std::vector<std::string_view> fields =
      split(std::string_view(*stat).substr(name_end + 1), ' ');
  const Result<std::int64_t> ticks =
      fields.size() > kStart ? parse_int(fields[kStart]) : Result<std::int64_t>(Error{});
  timespec boot{};
  if (!ticks || ::clock_gettime(CLOCK_BOOTTIME, &boot) != 0) return 0;
  const std::int64_t began = *ticks * (kSecond / ::sysconf(_SC_CLK_TCK));
  return now_monotonic_ns() - (boot.tv_sec * kSecond + boot.tv_nsec - began);
}

}  // namespace fathom::containers
