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
  remove_temporary_paths();
  EXPECT_FALSE(path_exists(one.path()));
  EXPECT_FALSE(path_exists(two.path()));
}

TEST(Scratch, WhatIsNotOursStays) {
  const ScratchDirectory ours = ScratchDirectory::make(fresh("ours-")).value();
  EXPECT_FALSE(ScratchDirectory::make(ours.path()).has_value());
  EXPECT_TRUE(path_exists(ours.path()));
}

TEST(Scratch, AFileIsRemovedUnlessItIsKept) {
  const std::string path = fresh("file-");
  {
    const TemporaryPath file(path);
    ASSERT_TRUE(write_file_atomic(path, "x").has_value());
  }
  EXPECT_FALSE(path_exists(path));
  TemporaryPath file(path);
  ASSERT_TRUE(write_file_atomic(path, "x").has_value());
  file.keep();
  remove_temporary_paths();
  EXPECT_TRUE(path_exists(path));
  const TemporaryPath again(path);
  remove_temporary_paths();
  EXPECT_FALSE(path_exists(path));
}

}  // namespace
}  // namespace fathom
