// SPDX-License-Identifier: MIT
#include "sources/perf/jit_names.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"

namespace fathom::sources {
namespace {

using Kind = JitNames::Answer::Kind;

// This process, as a JIT.
class JitNamesTest : public ::testing::Test {
 protected:
  void SetUp() override { names_.began(pid_, now_monotonic_ns()); }
  void TearDown() override { ::unlink(map_.c_str()); }
  void say(const std::string& lines) {
    ASSERT_TRUE(write_file_atomic(map_, lines));
    names_.refresh();
  }
  const std::int32_t pid_ = ::getpid();
  const std::string map_ = "/tmp/perf-" + std::to_string(pid_) + ".map";
  JitNames names_;
};

TEST_F(JitNamesTest, WhatIsToldLaterIsFoundByNumber) {
  EXPECT_EQ(names_.find(pid_, 0x1000, 1).kind, Kind::kLater);
  const std::uint32_t number = names_.ask_later(pid_, 0x1000, 1);
  EXPECT_EQ(names_.ask_later(pid_, 0x1000, 2), number) << "nothing new was read";
  EXPECT_EQ(names_.find_again(number).kind, Kind::kLater);
  say("1000 10 f\n");
  EXPECT_EQ(names_.find_again(number).function, "f");
  EXPECT_EQ(names_.find(pid_, 0x1000, 1).function, "f");
  names_.ended(pid_);
  EXPECT_EQ(names_.find_again(number).function, "f");
}

TEST_F(JitNamesTest, NumbersAreNotUsedAgain) {
  const std::uint32_t first = names_.ask_later(pid_, 0x1000, 1);
  names_.forget_numbers();
  EXPECT_NE(names_.ask_later(pid_, 0x2000, 1), first);
}

TEST_F(JitNamesTest, NobodyTellsAfterTheEnd) {
  const std::uint32_t number = names_.ask_later(pid_, 0x1000, 1);
  names_.stop();
  EXPECT_EQ(names_.find_again(number).kind, Kind::kNone);
}

TEST_F(JitNamesTest, AChildHasTheCodeOfItsParent) {
  ASSERT_TRUE(write_file_atomic(map_, "1000 10 f\n"));
  EXPECT_EQ(names_.find(pid_, 0x1000, 1).function, "f");
  constexpr std::int32_t kChild = 0x3fffffff;
  names_.forked(pid_, kChild, now_monotonic_ns());
  EXPECT_EQ(names_.find(kChild, 0x1000, 1).function, "f");
  names_.began(kChild, now_monotonic_ns());
  EXPECT_EQ(names_.find(kChild, 0x1000, 1).function, "") << "another program has other code";
}

TEST(JitNames, MemoryIsToldByTheMappingsName) {
  EXPECT_TRUE(is_memory("//anon"));
  EXPECT_TRUE(is_memory("/memfd:doublemapper (deleted)"));
  EXPECT_FALSE(is_memory("/usr/bin/node"));
  EXPECT_FALSE(is_memory("[vdso]"));
  EXPECT_TRUE(is_jitdump("/home/me/jit-42.dump"));
  EXPECT_FALSE(is_jitdump("/home/me/jit-42.dumps"));
}

}  // namespace
}  // namespace fathom::sources
