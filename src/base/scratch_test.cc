// SPDX-License-Identifier: MIT
#include "base/scratch.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"

namespace fathom {
namespace {

std::string fresh(const char* name) {
  return join_path(::testing::TempDir(), name + std::to_string(::getpid()));
}

TEST(Scratch, IsPrivateAndGoesWithItsObject) {
  std::string path;
  {
    const ScratchDirectory scratch = ScratchDirectory::make(fresh("scratch-")).value();
    path = scratch.path();
    struct stat facts {};
    ASSERT_EQ(::stat(path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777U, 0700U);
    ASSERT_TRUE(write_file_atomic(join_path(path, "a"), "x").has_value());
  }
  EXPECT_FALSE(path_exists(path));
}

TEST(Scratch, AllAreRemovedBeforeASignalEndsUs) {
  const ScratchDirectory one = ScratchDirectory::make(fresh("one-")).value();
  const ScratchDirectory two = ScratchDirectory::make(fresh("two-")).value();
  remove_scratch_directories();
  EXPECT_FALSE(path_exists(one.path()));
  EXPECT_FALSE(path_exists(two.path()));
}

}  // namespace
}  // namespace fathom
