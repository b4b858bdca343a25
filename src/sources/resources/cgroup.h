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

}  // namespace fathom::sources
