// SPDX-License-Identifier: MIT
#include "base/host.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files.h"

namespace fathom {
namespace {

class FakeRoot : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "host_test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    ASSERT_TRUE(make_dirs(root_ + "/proc/sys/kernel/random").has_value());
    ASSERT_TRUE(make_dirs(root_ + "/etc").has_value());
  }
  void TearDown() override { ASSERT_TRUE(remove_tree(root_).has_value()); }

  void put(const std::string& path, std::string_view content) const {
    ASSERT_TRUE(write_file_atomic(root_ + path, content).has_value());
  }

  std::string root_;
};

TEST_F(FakeRoot, ReadsTheFiles) {
  put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\nmodel name\t: other\n");
  put("/proc/meminfo", "MemTotal:       24576000 kB\nMemFree: 1 kB\n");
  put("/proc/sys/kernel/random/boot_id", "abc-def\n");
  put("/etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  const HostFacts facts = read_host_facts(root_);
  EXPECT_EQ(facts.cpu_model, "Some CPU @ 3 GHz");
  EXPECT_EQ(facts.memory_bytes, 24576000ULL * 1024);
  EXPECT_EQ(facts.boot_id, "abc-def");
  EXPECT_EQ(facts.system, "Debian GNU/Linux 12 (bookworm)");
}

TEST_F(FakeRoot, ArmCoresHaveNames) {
  put("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n");
  EXPECT_EQ(read_host_facts(root_).cpu_model, "Arm Neoverse V1");
  put("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x99\nCPU part\t: 0x123\n");
  EXPECT_EQ(read_host_facts(root_).cpu_model, "CPU implementer 0x99 part 0x123");
}

TEST_F(FakeRoot, WhatIsMissingStaysEmpty) {
  const HostFacts facts = read_host_facts(root_);
  EXPECT_EQ(facts.cpu_model, "");
  EXPECT_EQ(facts.memory_bytes, 0U);
  EXPECT_EQ(facts.boot_id, "");
}

TEST(Host, ThisMachineHasFacts) {
  const HostFacts& facts = this_host();
  EXPECT_FALSE(facts.kernel.empty());
  EXPECT_FALSE(facts.arch.empty());
  EXPECT_GT(facts.cores, 0U);
  EXPECT_GT(facts.memory_bytes, 0U);
}

}  // namespace
}  // namespace fathom
