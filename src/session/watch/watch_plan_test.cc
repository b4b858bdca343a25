// SPDX-License-Identifier: MIT
#include "session/watch/watch_plan.h"

#include <gtest/gtest.h>

namespace fathom::session {
namespace {

// Layers that come with a program that is started are not for a daemon, whatever the machine can.
TEST(WatchPlan, NobodyCanJoinWhatComesWithAProgram) {
  WatchOptions options;
  options.layers = "posix";
  const Result<LayerPlan> named = plan_watch(options);
  ASSERT_FALSE(named.has_value());
  EXPECT_EQ(named.error().message,
            "layer posix cannot be recorded: programs that run cannot be joined in it");
  EXPECT_EQ(named.error().hint, "try: fathom run --layers posix -- …");
}

TEST(WatchPlan, WhatCannotChangeWhileADaemonRuns) {
  const WatchOptions old;
  WatchOptions fresh;
  fresh.layers = "syscall,block";
  fresh.interval_ns = 5;
  EXPECT_TRUE(may_replace(old, fresh).has_value());
  for (std::string WatchOptions::*text :
       {&WatchOptions::output, &WatchOptions::socket, &WatchOptions::pfw}) {
    WatchOptions other;
    other.*text = "elsewhere";
    EXPECT_FALSE(may_replace(old, other).has_value());
  }
  fresh.rolls = true;
  EXPECT_FALSE(may_replace(old, fresh).has_value());
}

}  // namespace
}  // namespace fathom::session
