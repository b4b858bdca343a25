// SPDX-License-Identifier: MIT
#include "sources/resources/cgroup.h"

#include <gtest/gtest.h>

namespace fathom::sources {
namespace {

TEST(Cgroup, VersionsAndContainers) {
  const std::string v1 =
      "30 25 0:26 / /sys/fs/cgroup/memory rw,nosuid shared:9 - cgroup cgroup rw,memory\n"
      "31 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";
  const std::string v2 = "28 25 0:25 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";
  const std::string hybrid = "28 25 0:25 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n" + v1;
  const std::string container = "28 25 0:25 /docker/ab /sys/fs/cgroup rw - cgroup2 cgroup rw\n";
  struct Case {
    const char* name;
    std::string cgroup, mountinfo, memory, cpu;
  };
  const Case cases[] = {
      {"v2", "0::/user.slice/x\n", v2, "/sys/fs/cgroup/user.slice/x/memory.current",
       "/sys/fs/cgroup/user.slice/x/cpu.stat"},
      {"v1", "5:memory:/jobs/1\n4:cpu,cpuacct:/jobs/1\n", v1,
       "/sys/fs/cgroup/memory/jobs/1/memory.usage_in_bytes",
       "/sys/fs/cgroup/cpu,cpuacct/jobs/1/cpuacct.usage"},
      {"hybrid prefers v1's controllers", "5:memory:/a\n4:cpu,cpuacct:/b:c\n0::/\n", hybrid,
       "/sys/fs/cgroup/memory/a/memory.usage_in_bytes",
       "/sys/fs/cgroup/cpu,cpuacct/b:c/cpuacct.usage"},
      {"container", "0::/docker/ab/in\n", container, "/sys/fs/cgroup/in/memory.current",
       "/sys/fs/cgroup/in/cpu.stat"},
      {"root of v2", "0::/\n", v2, "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/cpu.stat"},
      {"no mount", "0::/\n", "", "", ""},
      {"nonsense", "x\n::\n", "a - b\n", "", ""},
  };
  for (const Case& c : cases) {
    const CgroupPaths paths = find_cgroup(c.cgroup, c.mountinfo);
    EXPECT_EQ(paths.memory_file, c.memory) << c.name;
    EXPECT_EQ(paths.cpu_file, c.cpu) << c.name;
    EXPECT_EQ(paths.cpu_is_v2, c.cpu.ends_with("cpu.stat")) << c.name;
  }
}

constexpr char kHybrid[] =
    "28 25 0:25 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
    "30 25 0:26 / /sys/fs/cgroup/memory rw,nosuid shared:9 - cgroup cgroup rw,memory\n"
    "31 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";

TEST(Cgroup, OneGroupInAllHierarchies) {
  const GroupPlace place = find_group_place("/sys/fs/cgroup/memory/docker/ab", kHybrid);
  EXPECT_EQ(place.memory.path, "/sys/fs/cgroup/memory/docker/ab");
  EXPECT_FALSE(place.memory.is_v2);
  EXPECT_EQ(place.cpu.path, "/sys/fs/cgroup/cpu,cpuacct/docker/ab");
  EXPECT_EQ(place.cpuacct.path, place.cpu.path);
  // No hierarchy of version 1 has these: the second version would.
  EXPECT_EQ(place.pids.path, "/sys/fs/cgroup/unified/docker/ab");
  EXPECT_TRUE(place.pids.is_v2);
  EXPECT_EQ(place.pressure, place.pids.path);
}

TEST(Cgroup, OneGroupOfTheSecondVersion) {
  const char* const mounts = "28 25 0:25 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";
  const GroupPlace place = find_group_place("/sys/fs/cgroup/a.slice/b", mounts);
  for (const GroupDirectory& one : {place.cpu, place.cpuacct, place.memory, place.io, place.pids}) {
    EXPECT_EQ(one.path, "/sys/fs/cgroup/a.slice/b");
    EXPECT_TRUE(one.is_v2);
  }
}

TEST(Cgroup, WhatIsNoGroupHasNoPlace) {
  for (const char* path : {"", "/", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/memoryx/a", "/tmp/a"})
    EXPECT_EQ(find_group_place(path, kHybrid).memory.path, "") << path;
}

}  // namespace
}  // namespace fathom::sources
