// SPDX-License-Identifier: MIT
// Turns a path or a container's id into the numbers that BPF programs compare. Version 1 has a
// number for each hierarchy, version 2 is hierarchy 0.
#include "session/watch/control_group.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/files.h"
#include "base/os_error.h"
#include "base/text.h"

namespace fathom::session {
namespace {

struct Mount {
  std::string point, type, options;
};

// id parent device root point options … - type source options
std::vector<Mount> hierarchies_in(std::string_view mountinfo) {
  std::vector<Mount> mounts;
  for (const std::string_view line : split(mountinfo, '\n')) {
    const std::vector<std::string_view> words = split(line, ' ');
    const auto dash = std::ranges::find(words, "-");
    if (words.size() < 6 || words.end() - dash < 4 || !dash[1].starts_with("cgroup")) continue;
    mounts.push_back({std::string(words[4]), std::string(dash[1]), std::string(dash[3])});
  }
  return mounts;
}

std::vector<Mount> mounted_hierarchies() {
  const Result<std::string> text = read_file("/proc/self/mountinfo");
  return hierarchies_in(text ? *text : "");
}

bool has_controller(const Mount& mount, std::string_view name) {
  const std::vector<std::string_view> with = split(mount.options, ',');
  return mount.type == "cgroup" && std::ranges::find(with, name) != with.end();
}

// The inode of its directory is the number that the kernel compares.
Result<ControlGroup> group_at(const Mount& mount, const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return os_error(errno, "look at " + path);
  FATHOM_ASSIGN(const std::string groups, read_file("/proc/self/cgroup"));
  FATHOM_ASSIGN(const std::uint32_t hierarchy, hierarchy_of(mount.type, mount.options, groups));
  return ControlGroup{hierarchy, facts.st_ino, path};
}

}  // namespace

Result<std::uint32_t> hierarchy_of(std::string_view type, std::string_view options,
                                   std::string_view groups) {
  if (type == "cgroup2") return 0U;
  const std::vector<std::string_view> with = split(options, ',');
  for (const std::string_view line : split(groups, '\n')) {
    const std::vector<std::string_view> words = split(line, ':');  // number controllers path
    const Result<std::int64_t> number = parse_int(words.front());
    if (words.size() < 3 || !number || words[1].empty()) continue;
    const std::string_view controller = split(words[1], ',').front();
    if (std::ranges::find(with, controller) == with.end()) continue;
    if (!controller.starts_with("name=")) return static_cast<std::uint32_t>(*number);
    return Error{Code::kUnsupported, "this hierarchy of control groups has no controllers",
                 "name the group in another hierarchy, such as /sys/fs/cgroup/memory"};
  }
  return Error{Code::kNotFound, "the control group's hierarchy is not mounted here",
               "name its directory below /sys/fs/cgroup"};
}

// Where the numbers of groups are: of memory first, then those of other hierarchies.
std::vector<std::string> resource_hierarchies(std::string_view mountinfo) {
  const std::vector<Mount> mounts = hierarchies_in(mountinfo);
  const auto is_second = [](const Mount& mount) { return mount.type == "cgroup2"; };
  std::vector<std::string> points;
  const auto add = [&](const auto& fits) {
    const auto found = std::ranges::find_if(mounts, fits);
    if (found != mounts.end() && std::ranges::find(points, found->point) == points.end())
      points.push_back(found->point);
  };
  add([](const Mount& mount) { return has_controller(mount, "memory"); });
  if (points.empty()) add(is_second);
  if (points.empty()) return points;
  for (const std::string_view name : {"cpu", "cpuacct", "blkio", "pids"})
    add([&](const Mount& mount) { return has_controller(mount, name); });
  add(is_second);  // it has the pressure, also where the first has the controllers
  return points;
}

Result<ControlGroup> find_control_group(const std::string& path) {
  const std::vector<Mount> mounts = mounted_hierarchies();
  const Mount* best = nullptr;
  for (const Mount& mount : mounts) {
    const bool below = path == mount.point || path.starts_with(mount.point + "/");
    if (below && (best == nullptr || mount.point.size() > best->point.size())) best = &mount;
  }
  if (best != nullptr) return group_at(*best, path);
  const std::size_t name = std::min(path.find_first_not_of('/'), path.size());
  for (const Mount& mount : mounts) {
    const std::string below = join_path(mount.point, path.substr(name));
    if (name < path.size() && path_exists(below)) return group_at(mount, below);
  }
  return Error{Code::kNotFound, "there is no control group " + path,
               "name its directory below /sys/fs/cgroup"};
}

Result<std::string> find_container_group(const std::string& id) {
  // As many as docker and podman show.
  constexpr std::size_t kFewest = 12;
  const bool is_number = id.size() >= kFewest && std::ranges::all_of(id, [](char c) {
                           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                         });
  if (!is_number)
    return usage_error("'" + escape_control(id) + "' is not a container's ID",
                       "give its first 12 digits or more, as 'docker ps' shows them");
  for (const Mount& mount : mounted_hierarchies()) {
    // Hierarchies of systemd alone: BPF programs cannot ask for them.
    if (mount.options.find("name=") != std::string::npos) continue;
    std::error_code failed;
    const auto all = std::filesystem::directory_options::skip_permission_denied;
    std::filesystem::recursive_directory_iterator at(mount.point, all, failed);
    for (; !failed && at != std::filesystem::recursive_directory_iterator(); at.increment(failed)) {
      if (!at->is_directory(failed)) continue;
      if (at->path().filename().string().find(id) != std::string::npos) return at->path().string();
    }
  }
  return Error{Code::kNotFound, "no container " + id + " runs here",
               "'docker ps' lists those that do"};
}

}  // namespace fathom::session
