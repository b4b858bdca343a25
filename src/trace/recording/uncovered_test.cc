// SPDX-License-Identifier: MIT
#include "trace/recording/uncovered.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/files.h"
#include "trace/testing/spool_builder.h"

namespace fathom::trace {
namespace {

TEST(UncoveredTest, LinesThatSaySomethingAreListed) {
  const testing::TempDir directory;
  const std::string file = join_path(directory.path(), "uncovered");
  const auto listed = [&] { return left_alone(Directory::open_beneath(directory.path()).value()); };
  EXPECT_TRUE(listed().empty());
  ASSERT_TRUE(write_file_atomic(file,
                                "7 512 /bin/a program\n"
                                "8 512\n8 512 \nx 512 /b\n-1 512 /b\n9 0 /b\n \n\n"
                                "10 512 /bin/\x1b\xff\n11 512 /bin/cut"));
  const std::vector<NotCovered> programs = listed();
  ASSERT_EQ(programs.size(), 3U);
  EXPECT_EQ(programs[0].pid, 7);
  EXPECT_EQ(programs[0].program, "/bin/a program");
  EXPECT_EQ(programs[0].reason, "too little address space (ulimit -v) to load a library");
  EXPECT_EQ(programs[1].pid, 10);
  EXPECT_EQ(programs[2].program, "/bin/cut");
  ASSERT_EQ(::remove(file.c_str()), 0);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_TRUE(listed().empty());
}

}  // namespace
}  // namespace fathom::trace
