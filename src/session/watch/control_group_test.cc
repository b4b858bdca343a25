// SPDX-License-Identifier: MIT
#include "session/watch/control_group.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

namespace fathom::session {
namespace {

constexpr char kGroups[] =
    "12:cpu,cpuacct:/a\n5:memory:/b\n1:name=systemd:/init.scope\n0::/init.scope\n";

TEST(ControlGroup, Hierarchies) {
  EXPECT_EQ(*hierarchy_of("cgroup2", "rw,nsdelegate", kGroups), 0U);
  EXPECT_EQ(*hierarchy_of("cgroup", "rw,memory", kGroups), 5U);
  EXPECT_EQ(*hierarchy_of("cgroup", "rw,cpu,cpuacct", kGroups), 12U);
  EXPECT_EQ(hierarchy_of("cgroup", "rw,xattr,name=systemd", kGroups).error().code,
            Code::kUnsupported);
  EXPECT_EQ(hierarchy_of("cgroup", "rw,devices", kGroups).error().code, Code::kNotFound);
}

TEST(ControlGroup, HierarchiesThatCountResources) {
  using Points = std::vector<std::string>;
  const std::string second = "30 1 0:26 / /cg/unified rw shared:9 - cgroup2 cgroup2 rw\n";
  const std::string cpu = "31 1 0:27 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n";
  const std::string named = "32 1 0:28 / /cg/systemd rw - cgroup cgroup rw,name=systemd\n";
  const std::string memory = "33 1 0:29 / /cg/memory rw - cgroup cgroup rw,memory\n";
  EXPECT_EQ(resource_hierarchies(second), Points{"/cg/unified"});
  EXPECT_EQ(resource_hierarchies(second + cpu + named + memory),
            (Points{"/cg/memory", "/cg/cpu", "/cg/unified"}));
  EXPECT_EQ(resource_hierarchies(cpu + named), Points());
  EXPECT_EQ(resource_hierarchies("1 2 rubbish - cgroup\n"), Points());
}

// Where a hierarchy with controllers, or of version 2, is mounted; "": nowhere.
std::string hierarchy() {
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const bool is_one = line.find(" - cgroup") != std::string::npos;
    if (!is_one || line.find("name=") != std::string::npos) continue;
    std::istringstream words(line);
    std::string point;
    for (int i = 0; i < 5; i++) words >> point;
    return point;
  }
  return "";
}

TEST(ControlGroup, AMountedHierarchyIsOne) {
  const std::string point = hierarchy();
  struct stat facts {};
  if (point.empty() || ::stat(point.c_str(), &facts) != 0) GTEST_SKIP() << "none is mounted here";
  const Result<ControlGroup> group = find_control_group(point);
  ASSERT_TRUE(group.has_value()) << group.error().message;
  EXPECT_EQ(group->inode, facts.st_ino);
}

TEST(ControlGroup, WhatIsNone) {
  EXPECT_FALSE(find_control_group("/no/such/group"));
  EXPECT_FALSE(find_control_group("/"));
  EXPECT_FALSE(find_control_group(""));
  EXPECT_EQ(find_container_group("nginx").error().code, Code::kUsage);
  EXPECT_EQ(find_container_group("0123456789abcdef").error().code, Code::kNotFound);
}

}  // namespace
}  // namespace fathom::session
