// SPDX-License-Identifier: MIT
// The tree against the definition (boxes.h), on lanes of many shapes.
#include "analysis/canvas/lane_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>

namespace fathom::analysis {
namespace {

using Lane = std::vector<LaneEvent>;
using Found = std::vector<LaneReader::Found>;

struct Made {
  LaneFiles files;
  LaneRoot root;
};

std::unique_ptr<Made> made_of(const Lane& lane, std::size_t flush_each = 0,
                              std::size_t buffer = std::size_t{1} << 20U) {
  auto made = std::make_unique<Made>();
  made->files.nodes = Pile(buffer);
  made->files.events = Pile(buffer);
  LaneWriter writer;
  for (std::size_t i = 0; i < lane.size(); ++i) {
    writer.add(lane[i], made->files);
    if (flush_each > 0 && i % flush_each == 0) writer.flush(made->files);
  }
  made->root = writer.finish(made->files);
  EXPECT_TRUE(made->files.seal().has_value());
  return made;
}

std::int64_t bin_of(std::int64_t ts, unsigned level) { return ts >> level; }

// What is too narrow, by bin; the rest by itself. Not yet widened.
Found gathered(const Lane& lane, const BinnedWindow& bins) {
  Found out;
  std::map<std::uint32_t, std::int64_t> times;
  bool open = false;
  for (std::size_t i = 0; i < lane.size(); ++i) {
    const LaneEvent& event = lane[i];
    const bool reaches = event.ts < bins.window.from && event.end() > bins.window.from;
    const bool begins = event.ts >= bins.window.from && event.ts < bins.window.to;
    if (!reaches && !begins) continue;
    const bool large = reaches || event.dur >> bins.level != 0;
    if (large || !open || bin_of(out.back().start, bins.level) != bin_of(event.ts, bins.level)) {
      out.push_back({event.ts, event.dur, event.dur, event.kind, 1, i});
      times = {{event.kind, event.dur}};
      open = !large;
      continue;
    }
    LaneReader::Found& box = out.back();
    box.count++;
    box.busy += event.dur;
    box.dur = event.end() - box.start;
    times[event.kind] += event.dur;
    for (const auto& [kind, time] : times) {
      if (time > times[box.kind] || (time == times[box.kind] && kind < box.kind)) box.kind = kind;
    }
  }
  return out;
}

void expect_same(const Lane& lane, const Made& made, const BinnedWindow& bins) {
  Found found;
  LaneReader(made.files, made.root).boxes(bins, found);
  const Found wanted = gathered(lane, bins);
  ASSERT_EQ(found.size(), wanted.size()) << bins.window.from << " " << bins.level;
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].count, wanted[i].count) << i;
    ASSERT_EQ(found[i].row, wanted[i].row);
    ASSERT_EQ(found[i].busy, wanted[i].busy);
    ASSERT_EQ(found[i].kind, wanted[i].kind) << i << " of " << found[i].count;
    if (i > 0) {
      ASSERT_GE(found[i].start, found[i - 1].start + found[i - 1].dur);
    }
    ASSERT_LE(found[i].start, wanted[i].start);
    ASSERT_GE(found[i].start + found[i].dur, wanted[i].start + wanted[i].dur);
    if (found[i].count == 1) {
      ASSERT_EQ(found[i].start, wanted[i].start);
      ASSERT_EQ(found[i].dur, wanted[i].dur);
      continue;
    }
    // As wide as its bin, but for what its neighbours take.
    const std::int64_t bin = std::int64_t{1} << bins.level;
    const std::int64_t begin = bin_of(wanted[i].start, bins.level) << bins.level;
    const std::int64_t left = i > 0 ? found[i - 1].start + found[i - 1].dur : begin;
    const std::int64_t right = i + 1 < found.size() ? wanted[i + 1].start : begin + bin;
    ASSERT_EQ(found[i].start, std::max(begin, left));
    ASSERT_GE(found[i].start + found[i].dur, std::min(begin + bin, right));
  }
}

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  std::int64_t below(std::int64_t end) {
    return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random_);
  }
  // Any magnitude is as likely as any other.
  std::int64_t any_size(unsigned bits) {
    return below(std::int64_t{1} << below(static_cast<std::int64_t>(bits) + 1));
  }

 private:
  std::mt19937_64 random_;
};

Lane random_lane(Dice& dice, std::size_t events, unsigned gap_bits, unsigned dur_bits) {
  Lane lane;
  std::int64_t at = dice.any_size(30) - dice.any_size(30);
  for (std::size_t i = 0; i < events; ++i) {
    at += dice.any_size(gap_bits);
    const std::int64_t dur = dice.any_size(dur_bits);
    lane.push_back({at, dur, static_cast<std::uint32_t>(dice.below(5)), dice.below(3) * 4096});
    at += dur;
  }
  return lane;
}

TEST(LaneTree, AnyWindowOfAnyLaneIsAsDefined) {
  Dice dice(7);
  for (int round = 0; round < 60; ++round) {
    const auto gap = static_cast<unsigned>(dice.below(24));
    const auto dur = static_cast<unsigned>(dice.below(24));
    const Lane lane = random_lane(dice, static_cast<std::size_t>(1 + dice.any_size(13)), gap, dur);
    const auto made = made_of(lane, round % 3 == 0 ? 100 : 0, round % 2 == 0 ? 1000 : 1U << 20U);
    ASSERT_EQ(made->root.events, lane.size());
    const std::int64_t begin = lane.front().ts;
    const std::int64_t span = std::max<std::int64_t>(lane.back().end() - begin, 1);
    for (int window = 0; window < 40; ++window) {
      const std::int64_t from = begin - 10 + dice.below(span + 10);
      const std::int64_t to = from + 1 + dice.below(window % 2 == 0 ? span : 1 + span / 1000);
      expect_same(lane, *made, binned({from, to}, 1 + dice.below(2000)));
      if (HasFatalFailure()) return;
    }
    expect_same(lane, *made, binned({-kFarthestTime, kFarthestTime}, 1));
  }
}

TEST(LaneTree, ManyInstantsAtOneMoment) {
  Lane lane(1000, {5, 0, 3, 0});
  lane.push_back({5, 7, 1, 0});
  const auto made = made_of(lane);
  expect_same(lane, *made, binned({0, 100}, 100));
  expect_same(lane, *made, binned({0, 100}, 1));
  expect_same(lane, *made, binned({6, 7}, 1));
}

TEST(LaneTree, BothSidesOfTheBeginning) {
  const Lane lane = {
      {-kFarthestTime + 1, 1, 0, 0}, {-1, 1, 1, 0}, {0, 5, 2, 0}, {kFarthestTime - 9, 3, 3, 0}};
  const auto made = made_of(lane);
  for (const std::int64_t width : {1, 10, 1000})
    expect_same(lane, *made, binned({-kFarthestTime, kFarthestTime}, width));
  expect_same(lane, *made, binned({-4, 4}, 100));
}

TEST(LaneTree, RowsAndCursorsGiveEachEvent) {
  Dice dice(11);
  const Lane lane = random_lane(dice, 3000, 12, 12);
  const auto made = made_of(lane);
  const LaneReader reader(made->files, made->root);
  for (std::size_t i = 0; i < lane.size(); i += 7) {
    const LaneEvent event = reader.event(i);
    EXPECT_EQ(event.ts, lane[i].ts);
    EXPECT_EQ(event.dur, lane[i].dur);
    EXPECT_EQ(event.kind, lane[i].kind);
    EXPECT_EQ(event.bytes, lane[i].bytes);
  }
  for (int round = 0; round < 50; ++round) {
    const std::int64_t from =
        lane.front().ts - 5 + dice.below(lane.back().end() - lane.front().ts + 10);
    auto wanted = std::ranges::find_if(
        lane, [&](const LaneEvent& event) { return event.ts >= from || event.end() > from; });
    for (LaneCursor cursor(made->files, made->root, from); !cursor.at_end(); cursor.next()) {
      ASSERT_NE(wanted, lane.end());
      ASSERT_EQ(cursor.event().ts, wanted->ts);
      ASSERT_EQ(cursor.event().dur, wanted->dur);
      ++wanted;
    }
    EXPECT_EQ(wanted, lane.end());
  }
}

TEST(LaneTree, BinsAreNoNarrowerThanAPixelAndCoverTheWindow) {
  Dice dice(3);
  for (int round = 0; round < 1000; ++round) {
    const Window asked{dice.any_size(50) - dice.any_size(50), 0};
    const Window window{asked.from, asked.from + 1 + dice.any_size(50)};
    const std::int64_t width = 1 + dice.any_size(13);
    const BinnedWindow bins = binned(window, width);
    const std::int64_t bin = std::int64_t{1} << bins.level;
    EXPECT_LE(bins.window.from, window.from);
    EXPECT_GE(bins.window.to, window.to);
    EXPECT_LT(window.from - bins.window.from, bin);
    EXPECT_LT(bins.window.to - window.to, bin);
    EXPECT_GE(static_cast<double>(bin) * static_cast<double>(width),
              static_cast<double>(window.to - window.from));
    EXPECT_EQ(bins.window.from % bin, 0);
    EXPECT_EQ(bins.window.to % bin, 0);
  }
}

}  // namespace
}  // namespace fathom::analysis
