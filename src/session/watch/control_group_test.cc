// SPDX-License-Identifier: MIT
#include "session/watch/control_group.h"

#include <gtest/gtest.h>

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

TEST(ControlGroup, WhatIsNone) {
  EXPECT_FALSE(find_control_group("/no/such/group"));
  EXPECT_FALSE(find_control_group("/"));
  EXPECT_FALSE(find_control_group(""));
  EXPECT_EQ(find_container_group("nginx").error().code, Code::kUsage);
  EXPECT_EQ(find_container_group("0123456789abcdef").error().code, Code::kNotFound);
}

}  // namespace
}  // namespace fathom::session
