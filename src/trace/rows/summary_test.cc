// SPDX-License-Identifier: MIT
// Sums of calls: what each adds, and what failed ones do not.
#include "trace/rows/summary.h"

#include <gtest/gtest.h>

#include <string>

namespace fathom::trace {
namespace {

using Counts = std::vector<std::int64_t>;

TEST(SummaryRowTest, EachCallAddsItsPart) {
  SummaryRow row;
  row.add(100, 40, 30, 4096, false);
  row.add(50, 3, 3, 0, false);
  row.add(200, 0, 0, kNull, false);
  EXPECT_EQ(row.calls, 3);
  EXPECT_EQ(row.errors, 0);
  EXPECT_EQ(row.dur, 43);
  EXPECT_EQ(row.self, 33);
  EXPECT_EQ(row.dur_min, 0);
  EXPECT_EQ(row.dur_max, 40);
  EXPECT_EQ(row.first, 50);
  EXPECT_EQ(row.last, 200);
  EXPECT_EQ(row.bytes, 4096);
  EXPECT_EQ(row.hist, (Counts{1, 1, 0, 0, 0, 1})) << "0, 3 and 40 ns";
  Counts sizes(13, 0);
  sizes[0] = sizes[12] = 1;
  EXPECT_EQ(row.sizes, sizes) << "0 and 4096 bytes; the third moved nothing that is known";
}

// A read that failed has moved nothing: it is a call and an error, and no read of 0 bytes.
TEST(SummaryRowTest, AFailedCallHasNoSize) {
  SummaryRow row;
  row.add(0, 10, 10, 0, true);
  EXPECT_EQ(row.calls, 1);
  EXPECT_EQ(row.errors, 1);
  EXPECT_EQ(row.bytes, 0);
  EXPECT_EQ(row.sizes, Counts{});
  row.add(20, 10, 10, 8, false);
  row.add(40, 10, 10, 0, true);
  EXPECT_EQ(row.calls, 3);
  EXPECT_EQ(row.errors, 2);
  EXPECT_EQ(row.bytes, 8);
  EXPECT_EQ(row.sizes, (Counts{0, 0, 0, 1}));
}

TEST(SummaryRowTest, MergedIsAsIfAddedTogether) {
  SummaryRow first, second, both;
  first.add(10, 5, 5, 100, false);
  second.add(2, 9, 4, kNull, true);
  second.add(30, 1, 1, 7, false);
  both.add(10, 5, 5, 100, false);
  both.add(2, 9, 4, kNull, true);
  both.add(30, 1, 1, 7, false);
  SummaryRow merged;
  merged.merge(first);
  merged.merge(second);
  merged.merge(SummaryRow());
  EXPECT_EQ(merged.calls, both.calls);
  EXPECT_EQ(merged.errors, both.errors);
  EXPECT_EQ(merged.dur, both.dur);
  EXPECT_EQ(merged.self, both.self);
  EXPECT_EQ(merged.dur_min, both.dur_min);
  EXPECT_EQ(merged.dur_max, both.dur_max);
  EXPECT_EQ(merged.first, both.first);
  EXPECT_EQ(merged.last, both.last);
  EXPECT_EQ(merged.bytes, both.bytes);
  EXPECT_EQ(merged.hist, both.hist);
  EXPECT_EQ(merged.sizes, both.sizes);
}

// What copies put into a file: bytes without calls, which merging does not lose.
TEST(SummaryRowTest, WrittenBytesHaveNoCalls) {
  SummaryRow row;
  row.add_written(100, 10, 4096);
  row.add_written(50, 10, 1);
  SummaryRow merged;
  merged.merge(row);
  merged.merge(SummaryRow());
  EXPECT_EQ(merged.calls, 0);
  EXPECT_EQ(merged.dur, 0);
  EXPECT_EQ(merged.bytes, 4097);
  EXPECT_EQ(merged.first, 50);
  EXPECT_EQ(merged.last, 110);
  EXPECT_EQ(merged.hist, Counts{});
  EXPECT_EQ(merged.sizes, Counts{}) << "each call counts once";
}

TEST(SummaryTableTest, RowsAreFoundAgain) {
  SummaryTable table;
  for (std::uint32_t name = 0; name < 1000; name++)
    table.at(table.find({1, name, 2, kNoString, 3})).calls = name + 1;
  ASSERT_EQ(table.rows().size(), 1000U);
  for (std::uint32_t name = 0; name < 1000; name++)
    EXPECT_EQ(table.at(table.find({1, name, 2, kNoString, 3})).calls, name + 1);
  EXPECT_EQ(table.rows().size(), 1000U);
  table.find({1, 0, 2, kNoString, 4});
  EXPECT_EQ(table.rows().size(), 1001U) << "of another process";
}

// Beyond the limit, files and then names share a row; nothing is left out of the sums.
TEST(SummaryTableTest, ABoundedOneCountsAll) {
  Strings strings;
  SummaryTable table;
  table.bound(strings);
  constexpr std::uint32_t kFiles = SummaryTable::kMostRows;
  for (std::uint32_t i = 0; i < kFiles; i++) {
    SummaryRow row;
    row.key = {1, 2, 3, strings.code("/f" + std::to_string(i)), 4};
    row.add(0, 1, 1, 1, false);
    table.add(row);
  }
  EXPECT_EQ(table.rows().size(), SummaryTable::kMostRows / 2 + 1);
  EXPECT_EQ(table.rows().back().calls, SummaryTable::kMostRows / 2);
  EXPECT_EQ(strings.view(table.rows().back().key.file), kOtherFiles);
  for (std::uint32_t i = 0; i < kFiles; i++)
    table.at(table.find({1, 1000 + i, 3, kNoString, 4})).calls++;
  EXPECT_EQ(table.rows().size(), SummaryTable::kMostRows + 1);
  EXPECT_EQ(strings.view(table.rows().back().key.name), kOtherNames);
  std::int64_t calls = 0;
  for (const SummaryRow& row : table.rows()) calls += row.calls;
  EXPECT_EQ(calls, 2 * std::int64_t{kFiles});
}

// There may be millions of such texts.
TEST(SummaryTableTest, ATextThatGetsNoRowIsNotKept) {
  Strings strings;
  SummaryTable table;
  table.bound(strings);
  for (std::uint32_t i = 0; i < SummaryTable::kMostRows / 2; i++)
    table.find({kNoString, i, kNoString, kNoString, 1});
  Strings from;
  SummaryTable more;
  const std::uint32_t name = from.code("read");
  for (const std::uint32_t file : {from.code("/a"), from.code("/b"), kNoString})
    more.at(more.find({kNoString, name, kNoString, file, 2})).calls = 1;
  const std::size_t before = table.rows().size();
  table.add(more, from, strings);
  EXPECT_EQ(strings.find("/a"), kNoString);
  EXPECT_NE(strings.find("read"), kNoString) << "there is room for names";
  ASSERT_EQ(table.rows().size(), before + 2);
  EXPECT_EQ(strings.view(table.rows()[before].key.file), kOtherFiles);
  EXPECT_EQ(table.rows()[before].calls, 2);
  EXPECT_EQ(table.rows()[before + 1].key.file, kNoString) << "calls on no file stay that";
}

TEST(TimelineTest, TimeStandsWhereItWas) {
  constexpr std::int64_t kWidth = std::int64_t{1} << Timeline::kFirstShift;
  Timeline timeline;
  timeline.add(1, kWidth / 2, kWidth, {}, 10);  // over the edge of two buckets
  timeline.add(1, 3 * kWidth, 5, {}, kNull);
  const std::vector<Timeline::Row> rows = timeline.rows();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].ts, 0);
  EXPECT_EQ(rows[0].cell.busy, kWidth / 2);
  EXPECT_EQ(rows[0].cell.calls, 1);
  EXPECT_EQ(rows[0].cell.bytes, 10);
  EXPECT_EQ(rows[1].ts, kWidth);
  EXPECT_EQ(rows[1].cell.busy, kWidth / 2);
  EXPECT_EQ(rows[1].cell.calls, 0) << "a call counts where it began";
  EXPECT_EQ(rows[2].ts, 3 * kWidth);
  EXPECT_EQ(rows[2].cell.busy, 5);
}

// What lies inside an event begins near the end of a bucket, in which the event had less time.
TEST(TimelineTest, TimeInsideTakesNoMoreThanThereIs) {
  constexpr std::int64_t kWidth = std::int64_t{1} << Timeline::kFirstShift;
  Timeline timeline;
  const Place places[] = {{.ts = kWidth - 10, .time = 2 * kWidth}};
  const Inside::Inner inner{.time = 2 * kWidth, .places = places};
  timeline.add(1, kWidth - 20, 3 * kWidth, inner, kNull);
  std::int64_t busy = 0;
  for (const Timeline::Row& row : timeline.rows()) {
    EXPECT_GE(row.cell.busy, 0);
    busy += row.cell.busy;
  }
  EXPECT_EQ(busy, kWidth) << "what is the event's own";
  Strings strings;
  const std::uint32_t layer = strings.code("posix");
  Timeline both, part;
  part.add(layer, kWidth - 20, 3 * kWidth, inner, kNull);
  both.add(part, strings, strings);
  busy = 0;
  for (const Timeline::Row& row : both.rows()) busy += row.cell.busy;
  EXPECT_EQ(busy, kWidth) << "neither where sums are added to others";
}

TEST(TimelineTest, WidensAndKeepsItsSums) {
  Timeline timeline;
  constexpr std::int64_t kWidth = std::int64_t{1} << Timeline::kFirstShift;
  for (std::int64_t i = 0; i < 3; i++) timeline.add(1, i * kWidth, 7, {}, 1);
  EXPECT_EQ(timeline.width(), kWidth);
  timeline.add(1, static_cast<std::int64_t>(Timeline::kBuckets) * kWidth, 7, {}, 1);
  EXPECT_EQ(timeline.width(), 2 * kWidth);
  std::int64_t busy = 0, calls = 0, bytes = 0;
  for (const Timeline::Row& row : timeline.rows()) {
    busy += row.cell.busy;
    calls += row.cell.calls;
    bytes += row.cell.bytes;
  }
  EXPECT_EQ(busy, 28);
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(bytes, 4);
  ASSERT_EQ(timeline.rows().size(), 3U);
  EXPECT_EQ(timeline.rows()[0].cell.calls, 2) << "two of the old ones";
}

}  // namespace
}  // namespace fathom::trace
