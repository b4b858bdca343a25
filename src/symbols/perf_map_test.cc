// SPDX-License-Identifier: MIT
#include "symbols/perf_map.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "base/files.h"

namespace fathom::symbols {
namespace {

TEST(PerfMap, NamesAreTheRestOfALine) {
  const PerfMap map = PerfMap::parse(
      "7f0000001000 20 py::<module>:/a b/c.py\n"
      "0x7f0000002000 0x10 LazyCompile:~f  (native)\r\n"
      "nothing\n7f0000003000 zz x\n7f0000004000 10 \n ffffffffffffffff 10 wraps\n"
      "7f0000005000 1 last");
  EXPECT_EQ(map.find(0x7f0000001000), "py::<module>:/a b/c.py");
  EXPECT_EQ(map.find(0x7f000000101f), "py::<module>:/a b/c.py");
  EXPECT_EQ(map.find(0x7f0000001020), "");
  EXPECT_EQ(map.find(0x7f0000000fff), "");
  EXPECT_EQ(map.find(0x7f000000200f), "LazyCompile:~f  (native)");
  EXPECT_EQ(map.find(0x7f0000003000), "");
  EXPECT_EQ(map.find(0x7f0000004000), "");
  EXPECT_EQ(map.find(0x7f0000005000), "last");
  EXPECT_EQ(map.size(), 3U);
}

TEST(PerfMap, OfEntriesThatOverlapTheLaterHolds) {
  const PerfMap map = PerfMap::parse("1000 100 old\n1040 40 new\n2000 10 a\n1ff0 100 over\n");
  EXPECT_EQ(map.find(0x103f), "old");
  EXPECT_EQ(map.find(0x1040), "new");
  EXPECT_EQ(map.find(0x107f), "new");
  EXPECT_EQ(map.find(0x1080), "old");
  EXPECT_EQ(map.find(0x2000), "over");
}

class PerfMapFile : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(remove_tree(folder_));
    ASSERT_TRUE(make_dirs(folder_));
  }
  const std::string folder_ = ::testing::TempDir() + "/perf_map";
  const std::string path_ = folder_ + "/perf-42.map";
};

TEST_F(PerfMapFile, IsReadWhereItIsTheProcesssOwn) {
  ASSERT_TRUE(write_file_atomic(path_, "1000 10 f\n"));
  const Result<PerfMap> map = PerfMap::open(folder_, 42, ::geteuid());
  ASSERT_TRUE(map) << map.error().message;
  EXPECT_EQ(map->find(0x1000), "f");
  EXPECT_EQ(PerfMap::open(folder_, 43, ::geteuid()).error().code, Code::kNotFound);
}

TEST_F(PerfMapFile, OfAnotherUserIsNot) {
  ASSERT_TRUE(write_file_atomic(path_, "1000 10 f\n"));
  if (::chown(path_.c_str(), 4711, static_cast<gid_t>(-1)) != 0)
    GTEST_SKIP() << "only root gives files away";
  EXPECT_EQ(PerfMap::open(folder_, 42, 0).error().code, Code::kDenied);
  EXPECT_TRUE(PerfMap::open(folder_, 42, 4711));
}

TEST_F(PerfMapFile, LinksAndWhatIsNoFileAreNot) {
  ASSERT_TRUE(write_file_atomic(folder_ + "/other", "1000 10 f\n"));
  ASSERT_EQ(::symlink("other", path_.c_str()), 0);
  EXPECT_EQ(PerfMap::open(folder_, 42, ::geteuid()).error().code, Code::kDenied);
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(PerfMap::open(folder_, 42, ::geteuid()).error().code, Code::kDenied);
}

// As the process sees it: its root, its pid, its user.
TEST(PerfMap, OfAProcessThatRuns) {
  const std::string path = "/tmp/perf-" + std::to_string(::getpid()) + ".map";
  ASSERT_TRUE(write_file_atomic(path, "1000 10 mine\n"));
  const Result<PerfMap> map = PerfMap::of_process(::getpid());
  ::unlink(path.c_str());
  ASSERT_TRUE(map) << map.error().message;
  EXPECT_EQ(map->find(0x1000), "mine");
  EXPECT_EQ(PerfMap::of_process(0x3fffffff).error().code, Code::kNotFound);
}

}  // namespace
}  // namespace fathom::symbols
