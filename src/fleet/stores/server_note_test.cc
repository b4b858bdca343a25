// SPDX-License-Identifier: MIT
#include "fleet/stores/server_note.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace fathom::fleet {
namespace {

const ServerNote kNote{"http://127.0.0.1:1", "a token", "ff"};

class ServerNoteTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "note." + std::to_string(::getpid());
    ASSERT_TRUE(remove_tree(root_));
    ASSERT_EQ(::mkdir(root_.c_str(), 0700), 0);
    ::setenv("XDG_RUNTIME_DIR", root_.c_str(), 1);
    ::setenv("HOME", join_path(root_, "home").c_str(), 1);
  }
  void TearDown() override { ASSERT_TRUE(remove_tree(root_)); }

  std::string root_;
};

TEST_F(ServerNoteTest, IsThereWhileTheServerIs) {
  EXPECT_FALSE(find_server_note());
  {
    const Result<LeftNote> left = LeftNote::leave(kNote);
    ASSERT_TRUE(left);
    const std::optional<ServerNote> found = find_server_note();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->url, kNote.url);
    EXPECT_EQ(found->token, kNote.token);
    EXPECT_EQ(found->fingerprint, kNote.fingerprint);
  }
  EXPECT_FALSE(find_server_note());
  EXPECT_FALSE(path_exists(join_path(root_, "fathom/server.json")));
}

TEST_F(ServerNoteTest, NobodyElseCanReadIt) {
  const Result<LeftNote> left = LeftNote::leave(kNote);
  ASSERT_TRUE(left);
  struct stat facts {};
  ASSERT_EQ(::stat(join_path(root_, "fathom/server.json").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
  ASSERT_EQ(::stat(join_path(root_, "fathom").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0700U);
}

TEST_F(ServerNoteTest, ASecondServerLeavesTheFirstAlone) {
  const Result<LeftNote> left = LeftNote::leave(kNote);
  const Result<LeftNote> second = LeftNote::leave({"http://127.0.0.1:2", "another", ""});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kExists);
  ASSERT_TRUE(find_server_note());
  EXPECT_EQ(find_server_note()->url, kNote.url);
}

TEST_F(ServerNoteTest, ANoteOfAKilledServerIsIgnoredAndReplaced) {
  ASSERT_EQ(::mkdir(join_path(root_, "fathom").c_str(), 0700), 0);
  ASSERT_TRUE(write_file_atomic(
      join_path(root_, "fathom/server.json"),
      R"({"url": "http://127.0.0.1:9", "token": "a longer token than ours", "fingerprint": ""})",
      0600));
  EXPECT_FALSE(find_server_note());
  const Result<LeftNote> left = LeftNote::leave(kNote);
  ASSERT_TRUE(left);
  EXPECT_EQ(find_server_note()->url, kNote.url);
}

TEST_F(ServerNoteTest, WithoutARuntimeDirectoryItLiesAtHome) {
  ::unsetenv("XDG_RUNTIME_DIR");
  const Result<LeftNote> left = LeftNote::leave(kNote);
  ASSERT_TRUE(left) << left.error().message;
  EXPECT_TRUE(path_exists(join_path(root_, "home/.config/fathom/server.json")));
  EXPECT_TRUE(find_server_note());
}

}  // namespace
}  // namespace fathom::fleet
