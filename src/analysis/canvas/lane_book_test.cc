// SPDX-License-Identifier: MIT
// What a hostile recording may claim, and where it ends.
#include "analysis/canvas/lane_book.h"

#include <gtest/gtest.h>

#include "analysis/canvas/kinds.h"
#include "base/utf8.h"

namespace fathom::analysis {
namespace {

TEST(LaneBook, TracksBeyondTheBoundAreCounted) {
  LaneBook book;
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < LaneBook::kMostTracks + 3; ++i)
    last = book.add_track({.host = "h", .pid = static_cast<std::int64_t>(i)});
  EXPECT_EQ(last, LaneBook::kNoTrack);
  EXPECT_EQ(book.tracks_left_out(), 3);
  book.add(last, 0, {1, 1, 0, 0});
  book.add(last, {1, 1, 0, 0});
  EXPECT_EQ(book.events_left_out(), 2);
}

TEST(LaneBook, LanesBeyondTheBoundAreCounted) {
  LaneBook book;
  const std::uint32_t track = book.add_track({.host = "h"});
  for (int i = 0; i < LaneBook::kMostDepth + 5; ++i) book.add(track, {i, 1'000'000, 0, 0});
  EXPECT_EQ(book.events_left_out(), 5);
  EXPECT_EQ(book.finish().size(), static_cast<std::size_t>(LaneBook::kMostDepth));
}

TEST(LaneBook, OnlyWhatIsBehindTheLastOneSharesItsLane) {
  LaneBook book;
  const std::uint32_t track = book.add_track({.host = "h"});
  book.add(track, 3, {0, 10, 0, 0});
  book.add(track, 3, {10, 5, 0, 0});
  book.add(track, 3, {12, 9, 0, 0});  // inside the last one, at the same depth
  book.add(track, 3, {4, 1, 0, 0});   // late
  EXPECT_EQ(book.out_of_order(), 1);
  const std::vector<MadeLane> lanes = book.finish();
  ASSERT_EQ(lanes.size(), 3U);
  EXPECT_EQ(lanes[0].depth, 3);
  EXPECT_EQ(lanes[0].root.events, 2U);
  EXPECT_EQ(lanes[1].depth, 4);
  EXPECT_EQ(lanes[2].depth, 5);
}

TEST(LaneBook, ATrackIsKnownByAllThatTellsItApart) {
  const TrackKey key{.host = "h", .pid = 1, .tid = 2};
  TrackKey other = key;
  EXPECT_EQ(track_id(key), track_id(other));
  other.tid = 12;
  EXPECT_NE(track_id(key), track_id(other));
  other = key;
  other.kind = TrackKind::kSamples;
  EXPECT_NE(track_id(key), track_id(other));
  EXPECT_LT(track_id(key), std::uint64_t{1} << 48U);
}

TEST(Kinds, LongNamesAreCutBetweenLetters) {
  Kinds kinds;
  std::string name(Kinds::kLongestName - 1, 'x');
  name += "ü and more";
  const std::uint32_t kind = kinds.find("app", name);
  const std::string& text = kinds.text(kinds.kind(kind).name);
  EXPECT_LE(text.size(), Kinds::kLongestName);
  EXPECT_TRUE(is_valid_utf8(text));
  EXPECT_EQ(kinds.find("app", name), kind);
  EXPECT_NE(kinds.find("posix", name), kind);
}

}  // namespace
}  // namespace fathom::analysis
