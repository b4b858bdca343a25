// SPDX-License-Identifier: MIT
// Where control groups keep what they count. Pure functions over text.
#pragma once

#include <string>
#include <string_view>

namespace fathom::sources {

// Where a process's control group keeps its files; "" where there is none.
struct CgroupPaths {
  std::string memory_file;  // bytes in use
  std::string cpu_file;     // v1: nanoseconds; v2: cpu.stat
  bool cpu_is_v2 = false;
};
// From /proc/PID/cgroup and /proc/PID/mountinfo; v1, v2 and hybrid.
[[nodiscard]] CgroupPaths find_cgroup(std::string_view cgroup, std::string_view mountinfo);

// Where one controller keeps its files for a group.
struct GroupDirectory {
  std::string path;  // "": the controller is not mounted
  bool is_v2 = false;
};

// The directories of one group in all hierarchies: containers have the same path in each.
struct GroupPlace {
  GroupDirectory cpu, cpuacct, memory, io, pids;
  std::string pressure;  // version 2 has it, also where version 1 has the controllers
};
// `directory` is that of the group in any hierarchy.
[[nodiscard]] GroupPlace find_group_place(std::string_view directory, std::string_view mountinfo);

}  // namespace fathom::sources
