// SPDX-License-Identifier: MIT
#include "base/own_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace fathom {
namespace {

class OwnFile : public ::testing::Test {
 protected:
  OwnFile() {
    std::string name = ::testing::TempDir() + "own-XXXXXX";
    root_ = real_path(mkdtemp(name.data())).value();
    EXPECT_TRUE(write_file_atomic(in("there"), "content", 0600));
  }
  ~OwnFile() override { (void)remove_tree(root_).has_value(); }
  [[nodiscard]] std::string in(const std::string& name) const { return join_path(root_, name); }

  std::string root_;
};

constexpr int kAppend = O_WRONLY | O_CREAT | O_APPEND;

TEST_F(OwnFile, IsAppendedTo) {
  for (const char* name : {"there", "new"}) {
    Result<File> file = open_own_file(in(name), kAppend);
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_TRUE(file->write_all("+"));
  }
  EXPECT_EQ(*read_file(in("there")), "content+");
  EXPECT_EQ(*read_file(in("new")), "+");
}

TEST_F(OwnFile, IsNeitherALinkNorAnythingElse) {
  ASSERT_EQ(symlink("there", in("link").c_str()), 0);
  ASSERT_EQ(symlink("nowhere", in("dangling").c_str()), 0);
  ASSERT_EQ(mkfifo(in("fifo").c_str(), 0600), 0);
  ASSERT_TRUE(make_dirs(in("directory")));
  for (const char* name : {"link", "dangling", "fifo", "directory"}) {
    EXPECT_FALSE(open_own_file(in(name), kAppend)) << name;
    EXPECT_FALSE(open_own_file(in(name), O_RDONLY)) << name;
    EXPECT_FALSE(make_own_file(in(name))) << name;
  }
  ASSERT_EQ(link(in("there").c_str(), in("second").c_str()), 0);
  EXPECT_FALSE(open_own_file(in("second"), kAppend));
  EXPECT_FALSE(path_exists(in("nowhere")));
  EXPECT_EQ(*read_file(in("there")), "content");
}

TEST_F(OwnFile, IsMadeOnce) {
  EXPECT_TRUE(make_own_file(in("new")));
  EXPECT_FALSE(make_own_file(in("new")));
  EXPECT_FALSE(make_own_file(in("there")));
}

TEST_F(OwnFile, IsPrivateWhereNobodyElseReadsIt) {
  EXPECT_EQ(*read_private_file(in("there"), 100), "content");
  EXPECT_FALSE(read_private_file(in("there"), 3));
  ASSERT_EQ(chmod(in("there").c_str(), 0644), 0);
  EXPECT_FALSE(read_private_file(in("there"), 100));
}

TEST_F(OwnFile, PrivateDirectories) {
  EXPECT_TRUE(is_private_directory(root_));
  ASSERT_EQ(symlink(root_.c_str(), in("link").c_str()), 0);
  EXPECT_FALSE(is_private_directory(in("link")));
  ASSERT_EQ(chmod(root_.c_str(), 0711), 0);
  EXPECT_FALSE(is_private_directory(root_));
}

TEST_F(OwnFile, OthersMayWriteOnTheWayWhereTheyExchangeNothing) {
  ASSERT_TRUE(make_dirs(in("a/b")));
  EXPECT_TRUE(is_way_kept(in("a/b")));
  ASSERT_EQ(chmod(in("a").c_str(), 0777), 0);
  EXPECT_FALSE(is_way_kept(in("a/b")));
  ASSERT_EQ(chmod(in("a").c_str(), 01777), 0);
  EXPECT_TRUE(is_way_kept(in("a/b")));
  ASSERT_EQ(symlink("a", in("link").c_str()), 0);
  EXPECT_FALSE(is_way_kept(in("link/b")));
}

}  // namespace
}  // namespace fathom
