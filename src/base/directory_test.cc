// SPDX-License-Identifier: MIT
#include "base/directory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <optional>

namespace fathom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DirectoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "directory_test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    ASSERT_EQ(mkdir(at("inside").c_str(), 0700), 0);
    ASSERT_TRUE(write_file_atomic(at("secret"), "outside").has_value());
    inside_.emplace(Directory::open(at("inside")).value());
  }
  void TearDown() override { ASSERT_TRUE(remove_tree(folder_).has_value()); }

  [[nodiscard]] std::string at(std::string_view name) const { return join_path(folder_, name); }
  [[nodiscard]] std::string in(std::string_view name) const {
    return join_path(at("inside"), name);
  }

  // One thing of each kind that is no file, under the name of its kind.
  void make_strange_things() const {
    ASSERT_EQ(symlink(at("secret").c_str(), in("a link").c_str()), 0);
    ASSERT_EQ(mkfifo(in("a FIFO").c_str(), 0600), 0);
    ASSERT_EQ(mkdir(in("a directory").c_str(), 0700), 0);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, in("a socket").c_str(), sizeof address.sun_path - 1);
    ASSERT_EQ(bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    close(socket);
  }

  std::string folder_;
  std::optional<Directory> inside_;
};

TEST_F(DirectoryTest, FilesInsideAreReadAndWritten) {
  ASSERT_TRUE(inside_->write_atomic("a", "content").has_value());
  EXPECT_EQ(*inside_->read_whole("a", 7), "content");
  EXPECT_EQ(inside_->read_whole("a", 6).error().code, Code::kCorrupt);
  EXPECT_EQ(inside_->read("none").error().code, Code::kNotFound);
  EXPECT_TRUE(inside_->has_file("a"));
  EXPECT_TRUE(inside_->remove("a"));
  EXPECT_FALSE(inside_->remove("a"));
  ASSERT_TRUE(inside_->create("b").has_value());
  EXPECT_THAT(*inside_->names(), ElementsAre("b"));
}

TEST_F(DirectoryTest, NamesAreOneStep) {
  for (const char* name : {"../secret", "..", ".", "", "/etc/passwd", "x/y"}) {
    EXPECT_FALSE(inside_->read(name).has_value()) << name;
    EXPECT_FALSE(inside_->directory(name).has_value()) << name;
    EXPECT_FALSE(inside_->create(name).has_value()) << name;
    EXPECT_FALSE(inside_->remove(name)) << name;
  }
  EXPECT_EQ(*read_file(at("secret")), "outside");
}

TEST_F(DirectoryTest, NothingButFilesIsOpened) {
  make_strange_things();
  const std::vector<std::string> kinds = inside_->names().value();
  ASSERT_EQ(kinds.size(), 4U);
  for (const std::string& kind : kinds) {
    for (const int flags : {O_RDONLY, O_RDWR, O_RDWR | O_CREAT, O_WRONLY | O_CREAT | O_TRUNC}) {
      const Result<File> opened = inside_->open_file(kind, flags);
      ASSERT_FALSE(opened.has_value()) << kind;
      EXPECT_EQ(opened.error().code, Code::kCorrupt);
      EXPECT_THAT(opened.error().message, HasSubstr("is " + kind + ", not a file"));
    }
  }
  EXPECT_EQ(*read_file(at("secret")), "outside");
  EXPECT_THAT(inside_->directory("a link").error().message, HasSubstr("is a link"));
}

TEST_F(DirectoryTest, DanglingLinksMakeNothing) {
  ASSERT_EQ(symlink(at("made").c_str(), in("link").c_str()), 0);
  EXPECT_FALSE(inside_->open_file("link", O_RDWR | O_CREAT).has_value());
  ASSERT_TRUE(inside_->create("link").has_value()) << "in the place of the link";
  EXPECT_FALSE(path_exists(at("made")));
}

TEST_F(DirectoryTest, LinkedDirectoriesAreNotEntered) {
  ASSERT_EQ(mkdir(at("elsewhere").c_str(), 0700), 0);
  ASSERT_EQ(symlink(at("elsewhere").c_str(), in("link").c_str()), 0);
  EXPECT_EQ(inside_->directory("link").error().code, Code::kCorrupt);
  EXPECT_EQ(Directory::open_beneath(in("link")).error().code, Code::kCorrupt);
  EXPECT_TRUE(Directory::open(in("link")).has_value()) << "the caller's own word";
  EXPECT_FALSE(inside_->has_directory("link"));
}

// What is written through one name must not change what another one, elsewhere, stands for.
TEST_F(DirectoryTest, FilesWithAnotherNameAreNotWritten) {
  ASSERT_EQ(link(at("secret").c_str(), in("log").c_str()), 0);
  EXPECT_EQ(inside_->open_file("log", O_RDWR | O_TRUNC).error().code, Code::kDenied);
  EXPECT_TRUE(inside_->read("log").has_value());
  EXPECT_EQ(*read_file(at("secret")), "outside");
}

TEST_F(DirectoryTest, FilesOfOthersAreNotWritten) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_TRUE(inside_->write_atomic("theirs", "x", 0666).has_value());
  ASSERT_EQ(chown(in("theirs").c_str(), 65534, 65534), 0);
  EXPECT_EQ(inside_->open_file("theirs", O_RDWR).error().code, Code::kDenied);
  EXPECT_TRUE(inside_->open_file("theirs", O_RDWR, 0, Directory::Owner::kAnybody).has_value());
}

TEST_F(DirectoryTest, GuardedAgainstOthers) {
  EXPECT_TRUE(inside_->is_ours());
  EXPECT_TRUE(inside_->is_guarded());
  ASSERT_EQ(chmod(at("inside").c_str(), 0777), 0);
  EXPECT_FALSE(inside_->is_guarded());
}

TEST_F(DirectoryTest, ADirectoryIsTheOneThatWasOpened) {
  ASSERT_TRUE(inside_->write_atomic("a", "old").has_value());
  ASSERT_EQ(rename(at("inside").c_str(), at("moved").c_str()), 0);
  ASSERT_EQ(mkdir(at("inside").c_str(), 0700), 0);
  EXPECT_EQ(*inside_->read_whole("a", 10), "old");
}

}  // namespace
}  // namespace fathom
