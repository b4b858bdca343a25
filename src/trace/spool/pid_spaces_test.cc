// SPDX-License-Identifier: MIT
// Pids of other namespaces, in a /proc that the test made.
#include "trace/spool/pid_spaces.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "trace/testing/spool_builder.h"
#include "wire/spool.h"

namespace fathom::trace {
namespace {

constexpr std::uint64_t kKey = 0x77;
using Pids = std::vector<std::uint32_t>;

class PidSpacesTest : public ::testing::Test {
 protected:
  PidSpacesTest() {
    add("self", "");
    add("1", "Name:\tinit\nNSpid:\t1\n");
  }
  // The namespace of a process is the inode of a file here; all differ.
  void add(const std::string& process, const std::string& status) {
    const std::string folder = join_path(proc_.path(), process);
    ASSERT_TRUE(make_dirs(folder + "/ns").has_value());
    ASSERT_TRUE(write_file_atomic(folder + "/ns/pid", process).has_value());
    ASSERT_TRUE(write_file_atomic(folder + "/status", status).has_value());
  }
  [[nodiscard]] std::uint64_t inode(const std::string& process) const {
    struct stat facts {};
    EXPECT_EQ(::stat((proc_.path() + "/" + process + "/ns/pid").c_str(), &facts), 0);
    return facts.st_ino;
  }

  testing::TempDir proc_;
};

TEST_F(PidSpacesTest, APidOfOursIsItself) {
  PidSpaces spaces(inode("self"), true, proc_.path());
  EXPECT_TRUE(spaces.sees_home());
  EXPECT_EQ(spaces.find({9, 0}, kKey).pids, Pids{9});
  EXPECT_EQ(spaces.find({9, fathom_space(inode("self"))}, kKey).pids, Pids{9});
}

TEST_F(PidSpacesTest, AProcessOfAnotherNamespaceIsFoundByItsInnerPid) {
  add("42", "Name:\tprog\nNSpid:\t42\t7\nThreads:\t1\n");
  add("43", "Name:\tbroken\nNSpid:\t43\tx\n");
  add("44", "Name:\tnothing\n");
  PidSpaces spaces(inode("self"), true, proc_.path());
  const std::uint32_t space = fathom_space(inode("42"));
  EXPECT_EQ(spaces.find({7, space}, kKey).pids, Pids{42});
  EXPECT_EQ(spaces.find({7, FATHOM_SPACE_UNKNOWN}, kKey).pids, Pids{42});
  EXPECT_EQ(spaces.find({8, space}, kKey).pids, Pids{});
  EXPECT_FALSE(spaces.find({8, space}, kKey).hidden) << "all processes can be seen";
}

TEST_F(PidSpacesTest, TheRunMayHaveBegunInAnother) {
  add("42", "Name:\tprog\nNSpid:\t42\t7\n");
  PidSpaces beneath(inode("42"), true, proc_.path());
  EXPECT_TRUE(beneath.sees_home());
  EXPECT_EQ(beneath.find({7, 0}, kKey).pids, Pids{42}) << "0 is where the run began";
  PidSpaces elsewhere(inode("42") + 1'000'000, true, proc_.path());
  EXPECT_FALSE(elsewhere.sees_home());
}

TEST_F(PidSpacesTest, WhoeverHidesProcessesMayHideThisOne) {
  ASSERT_TRUE(remove_tree(proc_.path() + "/1").has_value());
  PidSpaces spaces(inode("self"), true, proc_.path());
  EXPECT_TRUE(spaces.find({7, 123}, kKey).hidden);
}

}  // namespace
}  // namespace fathom::trace
