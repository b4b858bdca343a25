// SPDX-License-Identifier: MIT
#include "symbols/kept_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"

namespace fathom::symbols {
namespace {

class KeptFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(remove_tree(folder_));
    ASSERT_TRUE(make_dirs(folder_));
    ASSERT_TRUE(write_file_atomic(path_, "as it was"));
  }
  [[nodiscard]] MappedFile file() const {
    struct stat facts {};
    EXPECT_EQ(::stat(path_.c_str(), &facts), 0);
    return {.pid = ::getpid(), .path = path_, .build_id = "", .inode = facts.st_ino};
  }
  const std::string folder_ = ::testing::TempDir() + "/kept_files";
  const std::string path_ = folder_ + "/plugin.so";
};

TEST_F(KeptFilesTest, AFileThatIsReplacedIsReadAsItWas) {
  KeptFiles files;
  const MappedFile old = file();
  EXPECT_TRUE(files.keep(old));
  ASSERT_TRUE(write_file_atomic(path_, "another"));
  EXPECT_EQ(read_file(files.find(path_, "")).value(), "as it was");
  MappedFile other = old;
  other.inode = old.inode + 1;
  EXPECT_FALSE(files.keep(other)) << "nobody could tell whose a place in it is";
  EXPECT_TRUE(files.keep(old));
}

TEST_F(KeptFilesTest, AnotherFileThanTheMappedOneIsNotKept) {
  MappedFile gone = file();
  gone.inode++;
  KeptFiles files;
  EXPECT_TRUE(files.keep(gone));
  EXPECT_EQ(files.find(path_, ""), "");
  MappedFile of_build_id = file();
  of_build_id.build_id = "\1\2";
  EXPECT_TRUE(files.keep(of_build_id));
  EXPECT_EQ(files.find(path_, "\1\2"), "");
}

TEST_F(KeptFilesTest, WhoHasGoneIsLookedForAsTheContainerSawIt) {
  MappedFile seen = file();
  seen.pid = 0;
  seen.path = "/there/plugin.so";
  KeptFiles files, elsewhere;
  const auto folder = [this] { return Fd(::open(folder_.c_str(), O_PATH | O_DIRECTORY)); };
  files.look_below(folder(), "/there/");
  EXPECT_TRUE(files.keep(seen));
  EXPECT_EQ(read_file(files.find("/there/plugin.so", "")).value(), "as it was");
  elsewhere.look_below(Fd(), "/there/");
  elsewhere.look_below(folder(), "/other/");
  elsewhere.look_below(folder());
  EXPECT_TRUE(elsewhere.keep(seen));
  EXPECT_EQ(elsewhere.find("/there/plugin.so", ""), "");
  seen.path = "/plugin.so";
  EXPECT_TRUE(elsewhere.keep(seen));
  EXPECT_EQ(read_file(elsewhere.find("/plugin.so", "")).value(), "as it was");
}

TEST_F(KeptFilesTest, DescriptorsAreBounded) {
  KeptFiles none(0);
  EXPECT_TRUE(none.keep(file()));
  EXPECT_EQ(none.find(path_, ""), "");
}

TEST_F(KeptFilesTest, WhatIsNoFileIsNotOpened) {
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  KeptFiles files;
  EXPECT_TRUE(files.keep(file()));
  EXPECT_EQ(files.find(path_, ""), "");
}

}  // namespace
}  // namespace fathom::symbols
