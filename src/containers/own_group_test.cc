// SPDX-License-Identifier: MIT
#include "containers/own_group.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "containers/control_groups.h"

namespace fathom::containers {
namespace {

TEST(OwnGroup, WhoEntersIsCountedAndEndsWithIt) {
  Result<OwnGroup> made = OwnGroup::make();
  if (!made) GTEST_SKIP() << made.error().message;
  std::optional<OwnGroup> group(std::move(*made));
  const std::string path = group->path();
  const Result<std::vector<Fd>> doors = group->doors();
  ASSERT_TRUE(doors);
  EXPECT_EQ(first_in(path), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    for (const Fd& door : *doors) (void)!::write(door.get(), "0", 1);
    ::execl("/bin/sleep", "sleep", "1000", nullptr);
    ::_exit(1);
  }
  for (int i = 0; i < 1000 && first_in(path) == 0; ++i) ::usleep(10'000);
  EXPECT_EQ(first_in(path), child);
  EXPECT_FALSE(OwnGroup::make()) << "one at a time";
  group.reset();
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(path_exists(path));
}

}  // namespace
}  // namespace fathom::containers
