// SPDX-License-Identifier: MIT
// Control groups of either version, as the kernel's half tells them apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::session {

// A group by the numbers that the kernel knows it by, and by its directory.
struct ControlGroup {
  std::uint32_t hierarchy = 0;  // 0: version 2
  std::uint64_t inode = 0;
  std::string path = {};  // of its directory
};

// `path` as in the file system, or, where it does not begin with /sys, below the root of a
// hierarchy.
Result<ControlGroup> find_control_group(const std::string& path);

// The directory of a container's group, by the first 12 or more digits of the container's number.
Result<std::string> find_container_group(const std::string& id);

// Where the hierarchies that count resources are mounted, by a text like /proc/self/mountinfo. The
// first one may count memory; none where no hierarchy does.
[[nodiscard]] std::vector<std::string> resource_hierarchies(std::string_view mountinfo);

// The number of the hierarchy with this mount's options, by texts like /proc/self/cgroup: 0 where
// it is of version 2 (`type` cgroup2). kUnsupported where it has no controllers, kNotFound where
// there is none.
Result<std::uint32_t> hierarchy_of(std::string_view type, std::string_view options,
                                   std::string_view groups);

}  // namespace fathom::session
