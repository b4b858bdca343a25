// SPDX-License-Identifier: MIT
// Sums: made with the rows or without them, they are the same.
#include <gtest/gtest.h>

#include <algorithm>

#include "trace/recording/packer.h"
#include "trace/recording/parquet_tables.h"
#include "trace/recording/recording.h"
#include "trace/testing/recordings.h"

namespace fathom::trace {
namespace {

using testing::ask;
using testing::kDead;
using testing::kKey;
using testing::RecordWriter;
using testing::SegmentSpec;
using testing::SpoolBuilder;
using testing::TempDir;

// Rows of the summary as lines, in order.
std::string sums_of(const SummaryTable& summary, const Strings& strings) {
  std::vector<std::string> lines;
  for (const SummaryRow& row : summary.rows()) {
    std::string line(strings.view(row.key.layer));
    line.append(" ").append(strings.view(row.key.name)).append(" ");
    line += strings.view(row.key.file);
    for (const std::int64_t number : {row.calls, row.errors, row.dur, row.self, row.dur_min,
                                      row.dur_max, row.bytes, row.first, row.last})
      line += " " + (number == kNull ? "-" : std::to_string(number));
    lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}
std::string packed_sums(const Recording& recording) {
  const std::string line =
      "layer || ' ' || name || ' ' || coalesce(file, '') || ' ' || calls || ' ' || errors || ' ' ||"
      " dur || ' ' || self || ' ' || dur_min || ' ' || dur_max || ' ' || "
      "coalesce(bytes::VARCHAR, '-') || ' ' || \"first\" || ' ' || \"last\"";
  return ask(recording, kSummaryTable, "string_agg(" + line + ", chr(10) ORDER BY " + line + ")");
}

// Region "outer" with an argument and a read inside; its end is in the second half.
SegmentSpec first_half(const SpoolBuilder& builder) {
  RecordWriter w;
  w.switch_to({kKey, kDead, kDead, 0, 0, 0, builder.at(1000)});
  w.string(1, "outer").site(2, 1, 0).string(3, "epoch").path(4, 0, "/data/a");
  w.arg_int(0, 3, 7);
  w.call(testing::kRead, 1, builder.at(2000), builder.at(2400), 0,
         {fathom_zigzag(3), 4, 0, 100, fathom_zigzag(60)});
  return {w.bytes(), FATHOM_SEGMENT_FULL, kDead, kKey};
}
SegmentSpec second_half(const SpoolBuilder& builder) {
  RecordWriter w;
  w.switch_to({kKey, kDead, kDead, 0, 1, 0, builder.at(3000)});
  w.call(testing::kRead, 1, builder.at(3000), builder.at(3100), 0,
         {fathom_zigzag(3), 4, 0, 100, fathom_zigzag(100)});
  w.region(0, builder.at(1500), builder.at(4000), 2);
  return {w.bytes(), FATHOM_SEGMENT_OWNED, kDead, kKey};
}
constexpr char kBothHalves[] =
    "app outer  1 0 2500 2000 2500 2500 - 1500 4000\n"
    "posix read /data/a 2 0 500 500 100 400 160 2000 3100";

TEST(SumsTest, SumsAloneAreThoseOfPacking) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  builder.add_pool("1-a-0", {first_half(builder)});
  { ASSERT_EQ(Packer::open(directory.path(), Manifest{}, {})->drain()->chunks, 1U); }
  builder.add_pool("1-a-1", {second_half(builder)});
  const Result<Recording> sums = Recording::open(directory.path(), {}, Need::kSums);
  ASSERT_TRUE(sums.has_value()) << sums.error().message;
  const Part& part = sums->parts.at(0);
  EXPECT_EQ(part.tail->events.rows(), 0U);
  const std::string all = sums_of(part.tail->summary, part.tail->strings);
  EXPECT_EQ(all, kBothHalves);
  const Result<Recording> rows = Recording::open(directory.path());
  EXPECT_EQ(rows->parts[0].tail->events.rows(), 3U);
  EXPECT_EQ(sums_of(rows->parts[0].tail->summary, rows->parts[0].tail->strings), all);
  EXPECT_TRUE(path_exists(join_path(builder.directory(), "drained-0.log"))) << "nothing was packed";
  ASSERT_TRUE(recover(directory.path()).has_value());
  const Result<Recording> packed = Recording::open(directory.path());
  EXPECT_EQ(packed_sums(*packed), kBothHalves);
  EXPECT_EQ(part.manifest.layers.size(), packed->parts[0].manifest.layers.size());
}

TEST(SumsTest, ARegionThatSpansTheLastPackKeepsItsArguments) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  builder.add_pool("1-a-0", {first_half(builder)});
  { ASSERT_EQ(Packer::open(directory.path(), Manifest{}, {})->drain()->chunks, 1U); }
  // The log of a recorder that is gone is complete. This one is gone after it was packed.
  { ASSERT_TRUE(Packer::open(directory.path(), Manifest{}, {})->pack_complete().has_value()); }
  EXPECT_FALSE(path_exists(join_path(builder.directory(), "drained-0.log")));
  builder.add_pool("1-a-1", {second_half(builder)});
  const Result<Recording> read = Recording::open(directory.path());
  ASSERT_EQ(read->parts[0].tail->events.rows(), 2U);
  EXPECT_EQ(read->parts[0].tail->events.args.entries(), 1U);
  ASSERT_TRUE(recover(directory.path()).has_value());
  const Result<Recording> packed = Recording::open(directory.path());
  EXPECT_EQ(ask(*packed, kEventsTable, "max(args['epoch']) FILTER (name = 'outer')"), "7");
  EXPECT_EQ(packed_sums(*packed), kBothHalves) << "time inside is known across the packs";
}

TEST(SumsTest, TotalsAreKnownBeforeAnythingIsPacked) {
  const TempDir directory;
  SpoolBuilder builder(directory.path(), true);
  Manifest manifest;
  manifest.origin = "run";
  manifest.duration_ns = 5000;  // the recorder saw the end
  builder.add_pool("1-a-0", {first_half(builder), second_half(builder)}, kDead, 2);
  {
    Packer packer = Packer::open(directory.path(), manifest, {}).value();
    Result<Totals> totals = packer.sum_up();
    ASSERT_TRUE(totals.has_value()) << totals.error().message;
    EXPECT_EQ(totals->waiting, 3U);
    EXPECT_EQ(totals->manifest.layer("posix").events, 2);
    EXPECT_EQ(totals->manifest.losses.at(0).count, 2);
    EXPECT_EQ(sums_of(totals->summary, packer.strings()), kBothHalves);
    const Result<FinishResult> finished = packer.finish("", [](std::uint64_t) { return false; });
    ASSERT_TRUE(finished.has_value()) << finished.error().message;
    EXPECT_TRUE(finished->interrupted);
  }
  Result<Recording> waiting = Recording::open(directory.path());
  EXPECT_EQ(waiting->parts[0].tail->events.rows(), 3U);
  EXPECT_EQ(waiting->parts[0].manifest.state, RunState::kComplete) << "it is only not packed";
  EXPECT_EQ(waiting->parts[0].manifest.layer("posix").events, 2);
  ASSERT_TRUE(recover(directory.path()).has_value());
  Result<Recording> packed = Recording::open(directory.path());
  EXPECT_EQ(packed->parts[0].manifest.state, RunState::kComplete);
  EXPECT_EQ(packed->parts[0].manifest.layer("posix").events, 2);
  EXPECT_EQ(packed_sums(*packed), kBothHalves);
  EXPECT_EQ(ask(*packed, kEventsTable, "max(args['epoch'])"), "7");
}

TEST(SumsTest, SummingUpDoesNotDisturbPacking) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  builder.add_pool("1-a-0", {first_half(builder)});
  { ASSERT_EQ(Packer::open(directory.path(), Manifest{}, {})->drain()->chunks, 1U); }
  Packer packer = Packer::open(directory.path(), Manifest{}, {}).value();
  ASSERT_TRUE(packer.pack_complete().has_value());
  builder.add_pool("1-a-1", {second_half(builder)});
  for (int round = 0; round < 2; round++) {
    Result<Totals> totals = packer.sum_up();
    ASSERT_TRUE(totals.has_value());
    EXPECT_EQ(sums_of(totals->summary, packer.strings()), kBothHalves) << round;
  }
  ASSERT_TRUE(packer.finish().has_value());
  const Result<Recording> packed = Recording::open(directory.path());
  EXPECT_EQ(packed_sums(*packed), kBothHalves);
  EXPECT_EQ(ask(*packed, kEventsTable, "max(args['epoch'])"), "7");
}

}  // namespace
}  // namespace fathom::trace
