// SPDX-License-Identifier: MIT
#include "base/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace fathom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "files_test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { ASSERT_TRUE(remove_tree(folder_).has_value()); }

  [[nodiscard]] std::string at(std::string_view name) const { return join_path(folder_, name); }

  std::string folder_;
};

TEST_F(FilesTest, WrittenIsRead) {
  const std::string content("zero\0inside\n", 12);
  ASSERT_TRUE(write_file_atomic(at("a"), content).has_value());
  EXPECT_EQ(*read_file(at("a")), content);
  ASSERT_TRUE(write_file_atomic(at("a"), "second").has_value());
  EXPECT_EQ(*read_file(at("a")), "second");
  EXPECT_THAT(*list_dir(folder_), ElementsAre("a"));  // no draft is left
}

TEST_F(FilesTest, AtomicWriteIntoNothingLeavesNothing) {
  const Status status = write_file_atomic(at("missing/a"), "x");
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, Code::kNotFound);
  EXPECT_THAT(status.error().message, HasSubstr("missing/a"));
  ASSERT_TRUE(make_dirs(at("taken/inside")).has_value());
  EXPECT_FALSE(write_file_atomic(at("taken"), "x").has_value());  // a directory cannot be replaced
  EXPECT_THAT(*list_dir(folder_), ElementsAre("taken"));
}

TEST_F(FilesTest, FilesWithoutASizeAreReadWhole) {
  const Result<std::string> status = read_file("/proc/self/status");
  ASSERT_TRUE(status.has_value());
  EXPECT_THAT(*status, HasSubstr("Pid:\t" + std::to_string(getpid())));
}

TEST_F(FilesTest, MissingFileNamesItself) {
  const Result<std::string> content = read_file(at("none"));
  ASSERT_FALSE(content.has_value());
  EXPECT_EQ(content.error().message, "open " + at("none") + ": No such file or directory");
}

TEST_F(FilesTest, PreadStopsAtTheEnd) {
  ASSERT_TRUE(write_file_atomic(at("a"), "0123456789").has_value());
  Result<File> file = File::open(at("a"), O_RDONLY);
  ASSERT_TRUE(file.has_value());
  std::array<std::byte, 8> buffer{};
  EXPECT_EQ(*file->pread_some(buffer, 0), 8U);
  EXPECT_EQ(*file->pread_some(buffer, 6), 4U);
  EXPECT_EQ(buffer[0], std::byte{'6'});
  EXPECT_EQ(*file->pread_some(buffer, 100), 0U);
  EXPECT_EQ(*file->size(), 10U);
}

TEST_F(FilesTest, DescriptorsCloseOnExecAndAtTheEndOfLife) {
  int number = -1;
  {
    Result<File> file = File::open(at("a"), O_RDWR | O_CREAT);
    ASSERT_TRUE(file.has_value());
    number = file->fd();
    EXPECT_NE(fcntl(number, F_GETFD) & FD_CLOEXEC, 0);
    const File moved = std::move(file).value();
    EXPECT_EQ(moved.fd(), number);
  }
  EXPECT_EQ(fcntl(number, F_GETFD), -1);
  EXPECT_EQ(errno, EBADF);
}

TEST_F(FilesTest, DirectoriesAreMadeListedAndRemoved) {
  ASSERT_TRUE(make_dirs(at("x/y/z")).has_value());
  ASSERT_TRUE(make_dirs(at("x/y/z/")).has_value());
  ASSERT_TRUE(write_file_atomic(at("x/b"), "").has_value());
  ASSERT_TRUE(write_file_atomic(at("x/a"), "").has_value());
  EXPECT_THAT(*list_dir(at("x")), ElementsAre("a", "b", "y"));
  EXPECT_FALSE(make_dirs(at("x/a")).has_value());
  EXPECT_FALSE(make_dirs(at("x/a/below")).has_value());
  EXPECT_FALSE(list_dir(at("none")).has_value());
  ASSERT_TRUE(remove_tree(at("x")).has_value());
  EXPECT_FALSE(path_exists(at("x")));
  EXPECT_TRUE(remove_tree(at("x")).has_value());
}

TEST_F(FilesTest, RemoveTreeDoesNotFollowLinks) {
  ASSERT_TRUE(make_dirs(at("kept")).has_value());
  ASSERT_TRUE(write_file_atomic(at("kept/file"), "").has_value());
  ASSERT_TRUE(make_dirs(at("gone")).has_value());
  ASSERT_EQ(symlink(at("kept").c_str(), at("gone/link").c_str()), 0);
  ASSERT_TRUE(remove_tree(at("gone")).has_value());
  EXPECT_TRUE(path_exists(at("kept/file")));
}

TEST_F(FilesTest, RealPathResolvesLinks) {
  ASSERT_TRUE(make_dirs(at("real")).has_value());
  ASSERT_EQ(symlink("real", at("link").c_str()), 0);
  EXPECT_EQ(*real_path(at("link/../link")), *real_path(at("real")));
  EXPECT_FALSE(real_path(at("none")).has_value());
}

TEST_F(FilesTest, FreeSpace) {
  EXPECT_TRUE(free_space(folder_).has_value());
  EXPECT_FALSE(free_space(at("none")).has_value());
}

TEST(Paths, AbsoluteByTextAlone) {
  EXPECT_EQ(*absolute_path("/a/./b//../c/"), "/a/c");
  EXPECT_EQ(*absolute_path("/"), "/");
  EXPECT_EQ(*absolute_path("/.."), "/");
  EXPECT_EQ(*absolute_path("x"), join_path(*absolute_path("."), "x"));
}

TEST(Paths, PartsOfNames) {
  struct Case {
    std::string_view path, base, dir;
  };
  for (const Case& c : {Case{"a/b.c", "b.c", "a"}, Case{"b", "b", "."}, Case{"/b", "b", "/"},
                        Case{"/a/b/", "b", "/a"}, Case{"/", "/", "/"}, Case{"", "", "."}}) {
    EXPECT_EQ(base_name(c.path), c.base) << c.path;
    EXPECT_EQ(dir_name(c.path), c.dir) << c.path;
  }
  EXPECT_EQ(join_path("a", "b"), "a/b");
  EXPECT_EQ(join_path("a/", "b"), "a/b");
  EXPECT_EQ(join_path("", "b"), "b");
  EXPECT_EQ(join_path("a", "/b"), "/b");
}

TEST_F(FilesTest, UnnamedFilesLeaveNothing) {
  Result<File> file = File::unnamed(folder_);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  ASSERT_TRUE(file->write_all("content").has_value());
  EXPECT_EQ(*file->read_range(3, 100), "tent");
  EXPECT_EQ(*file->duplicate()->read_range(0, 3), "con");
  EXPECT_THAT(*list_dir(folder_), ElementsAre());
}

}  // namespace
}  // namespace fathom
