// SPDX-License-Identifier: MIT
// Finds the files of a process's control group: version 1, version 2, and both at once (hybrid).
#include "sources/resources/cgroup.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/files.h"
#include "base/text.h"

namespace fathom::sources {
namespace {

struct Mount {
  std::string root;   // which group is mounted: "/" but in containers
  std::string point;  // where
};

bool holds(std::string_view comma_list, std::string_view word) {
  const std::vector<std::string_view> words = split(comma_list, ',');
  return std::ranges::find(words, word) != words.end();
}

// The mount of a v1 controller, or with "" that of v2. Lines: id parent dev root point options
// [fields] - type source super-options.
std::optional<Mount> find_mount(std::string_view mountinfo, std::string_view controller) {
  for (const std::string_view line : split(mountinfo, '\n')) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const std::vector<std::string_view> left = split(line.substr(0, dash), ' ');
    const std::vector<std::string_view> right = split(line.substr(dash + 3), ' ');
    if (left.size() < 5 || right.size() < 3) continue;
    const bool fits = controller.empty() ? right[0] == "cgroup2"
                                         : right[0] == "cgroup" && holds(right[2], controller);
    if (fits) return Mount{std::string(left[3]), std::string(left[4])};
  }
  return {};
}

// The group's path in /proc/PID/cgroup: "0::/path" for v2, "7:cpu,cpuacct:/path" for v1.
std::optional<std::string> find_group(std::string_view cgroup, std::string_view controller) {
  for (const std::string_view line : split(cgroup, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool fits = controller.empty() ? controllers.empty() && line.starts_with("0:")
                                         : holds(controllers, controller);
    if (fits) return std::string(line.substr(second + 1));
  }
  return {};
}

// The directory as this mount shows it: a container sees its own group as the mount's root.
std::string directory_of(const Mount& mount, const std::string& group) {
  if (mount.root == "/") return join_path(mount.point, std::string_view(group).substr(1));
  if (group == mount.root) return mount.point;
  if (group.starts_with(mount.root + "/")) {
    return join_path(mount.point, std::string_view(group).substr(mount.root.size() + 1));
  }
  return mount.point;
}

std::string file_of(std::string_view cgroup, std::string_view mountinfo,
                    std::string_view controller, std::string_view name) {
  const std::optional<std::string> group = find_group(cgroup, controller);
  const std::optional<Mount> mount = find_mount(mountinfo, controller);
  if (!group || !mount || group->empty()) return "";
  return join_path(directory_of(*mount, *group), name);
}

// The path of a group below the mount that it lies in; "" where it is that mount, or in none.
std::string path_in_hierarchy(std::string_view directory, std::string_view mountinfo) {
  std::string_view deepest;
  for (const std::string_view line : split(mountinfo, '\n')) {
    const std::vector<std::string_view> words = split(line, ' ');
    const bool is_group = line.find(" - cgroup") != std::string_view::npos;
    if (words.size() < 5 || !is_group || !directory.starts_with(words[4])) continue;
    const std::string_view below = directory.substr(words[4].size());
    if (!below.starts_with('/') || words[4].size() <= deepest.size()) continue;
    deepest = words[4];
  }
  return std::string(deepest.empty() ? deepest : directory.substr(deepest.size() + 1));
}

}  // namespace

GroupPlace find_group_place(std::string_view directory, std::string_view mountinfo) {
  const std::string group = path_in_hierarchy(directory, mountinfo);
  if (group.empty()) return {};
  const std::optional<Mount> second = find_mount(mountinfo, "");
  const auto directory_for = [&](std::string_view controller) -> GroupDirectory {
    const std::optional<Mount> first = find_mount(mountinfo, controller);
    if (first) return {.path = join_path(first->point, group), .is_v2 = false};
    if (second) return {.path = join_path(second->point, group), .is_v2 = true};
    return {};
  };
  return {.cpu = directory_for("cpu"),
          .cpuacct = directory_for("cpuacct"),
          .memory = directory_for("memory"),
          .io = directory_for("blkio"),
          .pids = directory_for("pids"),
          .pressure = second ? join_path(second->point, group) : ""};
}

CgroupPaths find_cgroup(std::string_view cgroup, std::string_view mountinfo) {
  CgroupPaths paths;
  paths.memory_file = file_of(cgroup, mountinfo, "memory", "memory.usage_in_bytes");
  if (paths.memory_file.empty())
    paths.memory_file = file_of(cgroup, mountinfo, "", "memory.current");
  paths.cpu_file = file_of(cgroup, mountinfo, "cpuacct", "cpuacct.usage");
  if (paths.cpu_file.empty()) {
    paths.cpu_file = file_of(cgroup, mountinfo, "", "cpu.stat");
    paths.cpu_is_v2 = !paths.cpu_file.empty();
  }
  return paths;
}

}  // namespace fathom::sources
