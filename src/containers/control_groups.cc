// SPDX-License-Identifier: MIT
// Reads /proc and control groups of both versions. The runtime's own process is in the group first
// and then becomes the application, so its name says which of the two it is now.
#include "containers/control_groups.h"

#include <vector>

#include "base/files.h"
#include "base/text.h"

namespace fathom::containers {

std::string group_in(std::string_view text) {
  std::string second;  // of version 2
  for (const std::string_view line : split(text, '\n')) {
    const std::vector<std::string_view> words = split(line, ':');  // number controllers path
    if (words.size() < 3) continue;
    std::string path(line.substr(words[0].size() + words[1].size() + 2));
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

std::string name_of_process(pid_t pid) {
  const Result<std::string> name = read_file("/proc/" + std::to_string(pid) + "/comm");
  return name ? std::string(trim(*name)) : "";
}

bool is_runtime(std::string_view name) {
  return name.starts_with("runc") || name.starts_with("crun") || name.starts_with("conmon") ||
         name.starts_with("youki");
}

}  // namespace fathom::containers
