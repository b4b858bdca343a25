// SPDX-License-Identifier: MIT
#include "sources/perf/followed_tree.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/files.h"

namespace fathom::sources {
namespace {

using Pids = std::vector<pid_t>;

// A /proc of our own, with a process for each folder.
class FollowedTreeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(remove_tree(proc_));
    ASSERT_TRUE(make_dirs(proc_));
  }
  void put(pid_t pid, pid_t parent, int start = 100) {
    const std::string folder = join_path(proc_, std::to_string(pid));
    ASSERT_TRUE(make_dirs(join_path(folder, "task/" + std::to_string(pid))));
    std::string stat = std::to_string(pid) + " (some name) S " + std::to_string(parent);
    for (int field = 5; field <= 52; ++field)
      stat += " " + std::to_string(field == 22 ? start + pid : 0);
    ASSERT_TRUE(write_file_atomic(join_path(folder, "stat"), stat));
    ASSERT_TRUE(
        write_file_atomic(join_path(folder, "task/" + std::to_string(pid) + "/stat"), stat));
  }
  void end(pid_t pid) { ASSERT_TRUE(remove_tree(join_path(proc_, std::to_string(pid)))); }
  Pids followed() {
    Pids pids;
    for (const ProcessStat& stat : tree_.refresh()) pids.push_back(stat.pid);
    return pids;
  }

  const std::string proc_ = ::testing::TempDir() + "/followed_tree";
  FollowedTree tree_{proc_};
};

TEST_F(FollowedTreeTest, AProgramWithAllThatIsBelowIt) {
  put(5, 1);
  put(6, 5);
  put(7, 6);
  put(8, 1);
  tree_.adopt(5);
  EXPECT_EQ(followed(), (Pids{5, 6, 7}));
}

TEST_F(FollowedTreeTest, OneThatRunsWithWhatItStartsFromThenOn) {
  put(5, 1);
  put(6, 5);
  tree_.join(5);
  EXPECT_TRUE(tree_.has(5));
  EXPECT_EQ(followed(), Pids{5});
  put(7, 5);
  put(4, 6);  // of the child that was there before, as is
  put(3, 4);  // this one
  EXPECT_EQ(followed(), (Pids{5, 7}));
  end(6);
  put(4, 1);
  EXPECT_EQ(followed(), (Pids{5, 7})) << "it was the stranger's, and still is none of ours";
  tree_.join(4);
  EXPECT_EQ(followed(), (Pids{4, 5, 7})) << "unless it is named";
}

TEST_F(FollowedTreeTest, OneThatLeavesLeavesItsChildren) {
  put(5, 1);
  tree_.join(5);
  put(6, 5);
  tree_.leave(5);
  EXPECT_FALSE(tree_.has(5));
  put(7, 5);
  put(8, 6);
  EXPECT_EQ(followed(), (Pids{6, 8}));
  tree_.leave(99);
  tree_.join(5);
  EXPECT_EQ(followed(), (Pids{5, 6, 8})) << "it comes again, without its child of meanwhile";
}

TEST_F(FollowedTreeTest, ANumberThatIsUsedAgainIsAnother) {
  put(5, 1);
  put(6, 5);
  tree_.join(5);
  EXPECT_EQ(followed(), Pids{5});
  put(6, 5, 200);
  EXPECT_EQ(followed(), Pids{5}) << "nobody knows yet whose it is";
  EXPECT_EQ(followed(), (Pids{5, 6}));
}

}  // namespace
}  // namespace fathom::sources
