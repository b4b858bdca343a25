// SPDX-License-Identifier: MIT
#include "trace/spool/segment_copies.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "trace/testing/recordings.h"

namespace fathom::trace {
namespace {

using testing::kKey;
using testing::live_segment;
using testing::RecordWriter;
using testing::SegmentSpec;
using testing::SpoolBuilder;
using testing::TempDir;

class SegmentCopiesTest : public ::testing::Test {
 protected:
  SegmentCopies copies() {
    Spool spool = Spool::open(builder_.directory()).value();
    SegmentCopies all = copy_segments(spool);
    for (SegmentCopy& copy : all.segments) {
      EXPECT_NE(copy.schema, nullptr);
      copy.schema = nullptr;  // it goes with the spool
    }
    return all;
  }

  TempDir directory_;
  SpoolBuilder builder_{directory_.path()};
};

TEST_F(SegmentCopiesTest, WhatIsInUseOrWaitsIsCopied) {
  SegmentSpec free = live_segment(builder_);
  free.state = FATHOM_SEGMENT_FREE;
  SegmentSpec full = live_segment(builder_);
  full.state = FATHOM_SEGMENT_FULL;
  builder_.add_pool("1-a-0", {live_segment(builder_), free, full});
  const SegmentCopies all = copies();
  ASSERT_EQ(all.segments.size(), 2U);
  EXPECT_EQ(all.segments[0].name.index, 0U);
  EXPECT_EQ(all.segments[1].name.index, 2U);
  EXPECT_EQ(all.segments[0].bytes, live_segment(builder_).bytes);
  EXPECT_EQ(all.segments[0].rows_bytes, all.segments[0].bytes.size());
  EXPECT_FALSE(all.segments[0].call.has_value());
  EXPECT_EQ(all.left_out, 0U);
}

TEST_F(SegmentCopiesTest, TellsWhatAThreadIsInTheMiddleOf) {
  SegmentSpec segment = live_segment(builder_);
  segment.in_call = testing::kRead;
  segment.in_call_since = builder_.at(77);
  builder_.add_pool("1-a-0", {segment});
  const SegmentCopies all = copies();
  ASSERT_EQ(all.segments.size(), 1U);
  ASSERT_TRUE(all.segments[0].call.has_value());
  EXPECT_EQ(all.segments[0].call->kind, testing::kRead);
  EXPECT_EQ(all.segments[0].call->pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(all.segments[0].call->since_tick, builder_.at(77));
}

TEST_F(SegmentCopiesTest, ThreadByThreadInTheOrderOfTheirRuns) {
  std::vector<SegmentSpec> segments;
  for (const std::uint64_t run : {2, 0, 1}) {
    RecordWriter w;
    w.switch_to({kKey, 1, 1, 0, run, 0, builder_.at(1000 + run)});
    segments.push_back({w.bytes(), FATHOM_SEGMENT_FULL, 0, kKey});
  }
  builder_.add_pool("1-a-0", segments);
  const SegmentCopies all = copies();
  ASSERT_EQ(all.segments.size(), 3U);
  EXPECT_EQ(all.segments[0].name.index, 1U);
  EXPECT_EQ(all.segments[1].name.index, 2U);
  EXPECT_EQ(all.segments[2].name.index, 0U);
}

TEST_F(SegmentCopiesTest, LossesOfTheProgramsAreAddedUp) {
  builder_.lose(7);
  EXPECT_EQ(copies().lost, 7U);
}

}  // namespace
}  // namespace fathom::trace
