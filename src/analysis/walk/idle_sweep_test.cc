// SPDX-License-Identifier: MIT
#include "analysis/walk/idle_sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace fathom::analysis {
namespace {

enum Kind : std::uint32_t { kStep, kLoad, kRead, kSynchronize, kKinds };

std::string swept(std::vector<IdlePiece> pieces) {
  static const WalkKind kinds[kKinds] = {{"app", "step", "train", 0},
                                         {"app", "load", "dataloader", 0},
                                         {"posix", "read", "read", 0},
                                         {"cuda", "cuCtxSynchronize", "sync", 0}};
  IdleSweep sweep;
  for (const WalkKind& kind : kinds) sweep.add_kind(kind);
  std::sort(pieces.begin(), pieces.end());
  for (const IdlePiece& piece : pieces) sweep.take(piece);
  sweep.finish();
  std::string text;
  for (const auto& [key, time] : sweep.times()) {
    text += std::to_string(key.device) + " " + std::string(name_of(key.cause)) + " " +
            (key.kind ? *kinds[*key.kind].name : "-") + " " + std::to_string(time.total) + " in " +
            std::to_string(time.stretches) + "\n";
  }
  return text;
}

IdlePiece gap(std::int64_t ts, std::int64_t end, std::uint32_t device = 0,
              std::uint32_t thread = 0) {
  return {ts, end, thread, IdlePiece::kGap | device};
}

IdlePiece event(std::int64_t ts, std::int64_t end, Kind kind, std::uint32_t thread = 0) {
  return {ts, end, thread, kind};
}

TEST(IdleSweep, GivesEachMomentToTheInnermostEvent) {
  EXPECT_EQ(swept({event(0, 100, kStep), event(20, 30, kRead), gap(10, 60), event(50, 55, kRead)}),
            "0 I/O read 15 in 2\n0 regions step 35 in 3\n");
}

TEST(IdleSweep, SaysWhenTheLongestStretchBegan) {
  IdleSweep sweep;
  sweep.add_kind({"app", "step", "train", 0});
  for (const IdlePiece& piece : {event(0, 100, kStep), gap(5, 10), gap(20, 60), gap(70, 75)})
    sweep.take(piece);
  sweep.finish();
  ASSERT_EQ(sweep.times().size(), 1U);
  const IdleSweep::Time& time = sweep.times().begin()->second;
  EXPECT_EQ(time.longest, 40);
  EXPECT_EQ(time.longest_at, 20);
}

TEST(IdleSweep, WhatALoaderDoesInsideIsLoading) {
  EXPECT_EQ(swept({event(0, 100, kLoad), event(20, 30, kRead), gap(10, 40)}),
            "0 data loading load 20 in 2\n0 data loading read 10 in 1\n");
}

TEST(IdleSweep, WaitingForTheDeviceIsThatAlsoInALoader) {
  EXPECT_EQ(swept({event(0, 100, kLoad), event(20, 30, kSynchronize), gap(20, 30)}),
            "0 synchronisation cuCtxSynchronize 10 in 1\n");
}

TEST(IdleSweep, ATimeWithoutEventsIsSaid) {
  EXPECT_EQ(swept({event(0, 10, kStep), gap(5, 25), event(20, 30, kStep)}),
            "0 regions step 10 in 2\n0 nothing recorded - 10 in 1\n");
}

TEST(IdleSweep, DevicesAreIdleAtOnceAndThreadsApart) {
  EXPECT_EQ(swept({event(0, 10, kStep), gap(2, 6), gap(4, 8, 1), event(0, 10, kRead, 1),
                   gap(1, 3, 1, 1)}),
            "0 regions step 4 in 1\n1 I/O read 2 in 1\n1 regions step 4 in 1\n");
}

TEST(IdleSweep, EventsThatOverlapEndInTheirOwnTime) {
  EXPECT_EQ(swept({event(0, 20, kStep), event(10, 30, kRead), gap(0, 40)}),
            "0 I/O read 20 in 1\n0 regions step 10 in 1\n0 nothing recorded - 10 in 1\n");
}

}  // namespace
}  // namespace fathom::analysis
