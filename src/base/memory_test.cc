// SPDX-License-Identifier: MIT
#include "base/memory.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.h"

namespace fathom {
namespace {

class Memory : public ::testing::Test {
 protected:
  Memory() {
    std::string name = ::testing::TempDir() + "memory-XXXXXX";
    root_ = mkdtemp(name.data());
  }
  ~Memory() override { (void)remove_tree(root_).has_value(); }
  void put(const std::string& path, const std::string& content) const {
    ASSERT_TRUE(make_dirs(std::string(dir_name(root_ + path))));
    ASSERT_TRUE(write_file_atomic(root_ + path, content));
  }
  std::string root_;
};

TEST_F(Memory, IsTheMachinesWhereNothingBoundsIt) {
  EXPECT_GT(usable_memory(root_), 0U);
  put("/proc/self/cgroup", "0::/job\n");
  put("/sys/fs/cgroup/job/memory.max", "max\n");
  EXPECT_EQ(usable_memory(root_), usable_memory("/nonexistent"));
}

TEST_F(Memory, IsTheLeastOfTheGroupsAbove) {
  put("/proc/self/cgroup", "1:name=systemd:/x\n0::/slice/job\n");
  put("/sys/fs/cgroup/slice/memory.max", "1048576\n");
  put("/sys/fs/cgroup/slice/job/memory.max", "4194304\n");
  EXPECT_EQ(usable_memory(root_), 1048576U);
}

TEST_F(Memory, IsBoundByTheFirstVersionsGroups) {
  put("/proc/self/cgroup", "4:memory:/job\n");
  put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2097152\n");
  EXPECT_EQ(usable_memory(root_), 2097152U);
}

}  // namespace
}  // namespace fathom
