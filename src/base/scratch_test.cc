// SPDX-License-Identifier: MIT
#include "base/scratch.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/files.h"

namespace fathom {
namespace {

TEST(Scratch, IsPrivateAndGoesWithItsObject) {
  std::string path;
  {
    const Scratch scratch = Scratch::make().value();
    path = scratch.path();
    struct stat facts {};
    ASSERT_EQ(::stat(path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777, 0700U);
    ASSERT_TRUE(write_file_atomic(join_path(path, "a"), "x").has_value());
  }
  EXPECT_FALSE(path_exists(path));
}

TEST(Scratch, AllAreRemovedBeforeASignalEndsUs) {
  const Scratch one = Scratch::make().value();
  const Scratch two = Scratch::make().value();
  remove_all_scratch();
  EXPECT_FALSE(path_exists(one.path()));
  EXPECT_FALSE(path_exists(two.path()));
}

}  // namespace
}  // namespace fathom
