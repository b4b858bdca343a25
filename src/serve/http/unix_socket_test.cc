// SPDX-License-Identifier: MIT
#include "serve/http/unix_socket.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

namespace fathom::serve {
namespace {

class UnixSocket : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(remove_tree(room_));
    ASSERT_TRUE(make_dirs(room_));
    ASSERT_EQ(::chmod(room_.c_str(), 0700), 0);
  }
  void TearDown() override { ASSERT_TRUE(remove_tree(room_)); }

  // Short: a socket's path may have 107 bytes.
  std::string room_ = "/tmp/fathom-socket." + std::to_string(::getpid());
  std::string path_ = room_ + "/s";
};

TEST_F(UnixSocket, IsItsOwnersAlone) {
  const mode_t before = ::umask(0);
  const Result<UnixListener> listener = listen_at(path_);
  ::umask(before);
  ASSERT_TRUE(listener) << listener.error().message;
  struct stat facts {};
  ASSERT_EQ(::lstat(path_.c_str(), &facts), 0);
  EXPECT_TRUE(S_ISSOCK(facts.st_mode));
  EXPECT_EQ(facts.st_mode & 07777U, 0600U);
}

TEST_F(UnixSocket, GoesWithItsOwner) {
  { EXPECT_TRUE(listen_at(path_)); }
  EXPECT_FALSE(path_exists(path_));
}

TEST_F(UnixSocket, OneThatNobodyListensAtIsReplaced) {
  std::optional<UnixListener> first;
  {
    Result<UnixListener> made = listen_at(path_);
    ASSERT_TRUE(made);
    first = std::move(*made);
  }
  EXPECT_FALSE(listen_at(path_)) << "somebody listens";
  EXPECT_TRUE(path_exists(path_));
  first->socket.reset();  // as after a crash: the name stays
  first->path.keep();
  EXPECT_TRUE(listen_at(path_));
}

TEST_F(UnixSocket, WhatElseIsThereStays) {
  ASSERT_TRUE(write_file_atomic(path_, "mine"));
  const Result<UnixListener> at_file = listen_at(path_);
  ASSERT_FALSE(at_file);
  EXPECT_EQ(at_file.error().code, Code::kExists);
  EXPECT_EQ(*read_file(path_), "mine");
  std::filesystem::create_symlink("elsewhere", room_ + "/link");
  EXPECT_FALSE(listen_at(room_ + "/link"));
  EXPECT_FALSE(path_exists(room_ + "/elsewhere"));
}

TEST_F(UnixSocket, ADirectoryThatOthersMayChangeIsRefused) {
  ASSERT_EQ(::chmod(room_.c_str(), 0777), 0);
  const Result<UnixListener> listener = listen_at(path_);
  ASSERT_FALSE(listener);
  EXPECT_EQ(listener.error().code, Code::kDenied);
  EXPECT_FALSE(listen_at(room_ + "/" + std::string(200, 'x')));
}

}  // namespace
}  // namespace fathom::serve
