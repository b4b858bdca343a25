// SPDX-License-Identifier: MIT
#include "analysis/live/stack_words.h"

#include <gtest/gtest.h>

#include <vector>

namespace fathom::analysis {
namespace {

using Frames = std::vector<StackFrame>;

TEST(StackWords, WhatRanIsTheInnermostFunction) {
  EXPECT_EQ(words_of(Frames{{"main", "/bin/sort"}, {"merge", "/bin/sort"}}).ran, "merge");
  EXPECT_EQ(words_of({}).ran, "[unknown]");
}

TEST(StackWords, AWaitIsToldByTheCallThatLedIntoIt) {
  const Frames lock = {{"main", "/bin/sort"},
                       {"push", "/bin/sort"},
                       {"___pthread_mutex_lock", "/lib/libc.so.6"},
                       {"__x64_sys_futex", "[kernel.kallsyms]"},
                       {"futex_wait", "[kernel.kallsyms]"}};
  EXPECT_EQ(words_of(lock).cause, "lock");
  EXPECT_EQ(words_of(lock).wait, "pthread_mutex_lock in push");
}

TEST(StackWords, TheCauseThatStandsFirstTells) {
  const Frames join = {
      {"main", "/bin/a"}, {"__pthread_clockjoin_ex", "/lib/libc.so.6"}, {"futex_wait", "[kernel]"}};
  EXPECT_EQ(words_of(join).cause, "join") << "and not the lock that it waits by";
  EXPECT_EQ(words_of(join).wait, "pthread_clockjoin_ex in main");
  const Frames child = {{"__GI___wait4", "/lib/libc.so.6"}};
  EXPECT_EQ(words_of(child).wait, "wait4");
}

TEST(StackWords, WhatNobodyKnowsIsOther) {
  const Frames strange = {{"main", "/bin/a"}, {"ioctl", "/lib/libc.so.6"}, {"drm", "[kernel]"}};
  EXPECT_EQ(words_of(strange).cause, "other");
  EXPECT_EQ(words_of(strange).wait, "ioctl in main");
  EXPECT_EQ(words_of({}).wait, "[unknown]");
}

}  // namespace
}  // namespace fathom::analysis
