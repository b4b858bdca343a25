// SPDX-License-Identifier: MIT
#include "fleet/revision.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/ids.h"

namespace fathom::fleet {
namespace {

const std::string kOne(40, '1');
const std::string kTwo(40, '2');

class Revisions : public ::testing::Test {
 protected:
  void TearDown() override { (void)remove_tree(folder_); }
  void write(const std::string& name, const std::string& text) {
    const std::string path = join_path(folder_, name);
    ASSERT_TRUE(make_dirs(std::string(dir_name(path))));
    ASSERT_TRUE(write_file_atomic(path, text));
  }
  std::string folder_ = ::testing::TempDir() + "/revision-" + random_id();
};

TEST_F(Revisions, OfABranchATagAndAWorktree) {
  write("tree/src/x.c", "");
  write("tree/.git/HEAD", "ref: refs/heads/main\n");
  write("tree/.git/packed-refs", "# pack-refs\n" + kOne + " refs/heads/main\n");
  EXPECT_EQ(kOne, git_commit(folder_ + "/tree/src"));
  write("tree/.git/refs/heads/main", kTwo + "\n");
  EXPECT_EQ(kTwo, git_commit(folder_ + "/tree"));
  write("tree/.git/HEAD", kOne + "\n");
  EXPECT_EQ(kOne, git_commit(folder_ + "/tree"));
  write("tree/.git/worktrees/w/HEAD", "ref: refs/heads/main\n");
  write("tree/.git/worktrees/w/commondir", "../..\n");
  write("w/.git", "gitdir: " + folder_ + "/tree/.git/worktrees/w\n");
  EXPECT_EQ(kTwo, git_commit(folder_ + "/w"));
}

TEST_F(Revisions, WhereThereIsNone) {
  write("plain/x", "");
  write("plain/.git/HEAD", "ref: refs/heads/none\n");
  EXPECT_EQ("", git_commit(folder_ + "/plain"));
  EXPECT_EQ("given", revision_here("given"));
}

}  // namespace
}  // namespace fathom::fleet
