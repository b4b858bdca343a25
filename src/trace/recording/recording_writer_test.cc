// SPDX-License-Identifier: MIT
#include "trace/recording/recording_writer.h"

#include <gtest/gtest.h>

#include "trace/recording/parquet_tables.h"
#include "trace/rows/loss_reasons.h"
#include "trace/testing/recordings.h"

namespace fathom::trace {
namespace {

using testing::ask;
using testing::TempDir;

TEST(RecordingWriterTest, PutsAWholeRecordingInPlace) {
  const TempDir directory;
  const std::string path = directory.path() + "/x/trace";
  ASSERT_TRUE(make_dirs(directory.path() + "/x").has_value());
  {
    Result<RecordingWriter> abandoned = RecordingWriter::create(path, Manifest{});
    ASSERT_TRUE(abandoned.has_value()) << abandoned.error().message;
  }
  EXPECT_TRUE(list_dir(directory.path() + "/x")->empty());
  Manifest manifest;
  manifest.origin = "import";
  manifest.host.hostname = "h1";
  RecordingWriter writer = RecordingWriter::create(path, manifest).value();
  EventBatch events;
  EventRow row;
  row.pid = row.tid = 1;
  row.layer = writer.strings().code("posix");
  row.name = writer.strings().code("outer");
  row.ts = 0;
  row.dur = 100;
  row.depth = 0;
  events.args.add(writer.strings().code("k"), "v");
  events.push(row);
  row.name = writer.strings().code("inner");
  row.ts = 10;
  row.dur = 30;
  row.host = writer.strings().code("h2");
  events.push(row);
  ASSERT_TRUE(writer.append(events).has_value());
  IntervalBatch intervals;
  IntervalRow interval;
  interval.layer = row.layer;
  interval.name = row.name;
  interval.calls = 5;
  interval.hist = {0, 2, 3};
  intervals.rows.push_back(interval);
  ASSERT_TRUE(writer.append(intervals).has_value());
  EXPECT_FALSE(path_exists(path));
  const Status finished = writer.finish();
  ASSERT_TRUE(finished.has_value()) << finished.error().message;
  EXPECT_FALSE(RecordingWriter::create(path, manifest).has_value()) << "never overwrites";
  const Result<Recording> recording = Recording::open(directory.path());  // the directory above
  ASSERT_TRUE(recording.has_value());
  EXPECT_EQ(recording->parts[0].manifest.state, RunState::kComplete);
  EXPECT_EQ(recording->parts[0].manifest.layers[0].events, 3);
  EXPECT_EQ(ask(*recording, kEventsTable, "string_agg(host || ':' || name, ' ' ORDER BY ts)"),
            "h1:outer h2:inner");
  EXPECT_EQ(ask(*recording, kEventsTable, "max(args['k'])"), "v");
  // Another host's thread of the same number is another thread.
  EXPECT_EQ(ask(*recording, kSummaryTable, "max(self) FILTER (name = 'outer')"), "100");
  EXPECT_EQ(ask(*recording, kSummaryTable, "string_agg(host || ':' || name, ' ' ORDER BY host)"),
            "h1:outer h2:inner");
  EXPECT_EQ(ask(*recording, kTimelineTable, "string_agg(host || ':' || busy, ' ' ORDER BY host)"),
            "h1:100 h2:30");
  EXPECT_EQ(
      ask(*recording, kCoverageTable, "string_agg(host || ':' || covered, ' ' ORDER BY host)"),
      "h1:100 h2:30");
  EXPECT_EQ(ask(*recording, kIntervalsTable, "max(hist)"), "[0, 2, 3]");
}

// Files of others may claim any length.
TEST(RecordingWriterTest, NothingEndsAfterTheLastMoment) {
  const TempDir directory;
  RecordingWriter writer =
      RecordingWriter::create(directory.path() + "/trace", Manifest{}, {}).value();
  EventBatch events;
  EventRow event;
  event.ts = 5;
  event.dur = INT64_MAX;
  event.layer = writer.strings().code("app");
  event.name = writer.strings().code("long");
  events.push(event);
  event.dur = 7;
  events.push(event);
  IntervalBatch intervals;
  intervals.rows.push_back({.ts = 9, .width = INT64_MAX, .layer = event.layer, .name = event.name});
  ASSERT_TRUE(writer.append(events).has_value());
  ASSERT_TRUE(writer.append(intervals).has_value());
  ASSERT_TRUE(writer.finish().has_value());
  const Recording recording = Recording::open(directory.path() + "/trace").value();
  EXPECT_EQ(ask(recording, kEventsTable, "max(ts + dur)"), "9223372036854775807");
  EXPECT_EQ(ask(recording, kEventsTable, "min(ts + dur)"), "12");
  EXPECT_EQ(ask(recording, kIntervalsTable, "max(ts + width)"), "9223372036854775807");
  ASSERT_EQ(recording.parts[0].manifest.losses.size(), 1U);
  EXPECT_EQ(recording.parts[0].manifest.losses[0].reason, kCutLengths);
  EXPECT_EQ(recording.parts[0].manifest.losses[0].count, 2);
}

// Rows of each kind are in one file, whether the file was full or the recording came to its end.
TEST(RecordingWriterTest, RowsAreThereOnceWhereFilesAreFull) {
  const TempDir directory;
  RecordingWriter writer =
      RecordingWriter::create(directory.path() + "/trace", Manifest{}, {.rows_per_file = 2})
          .value();
  const std::uint32_t layer = writer.strings().code("posix");
  const std::uint32_t name = writer.strings().code("read");
  for (int round = 0; round < 5; round++) {
    EventBatch events;
    EventRow event;
    event.ts = round;
    event.layer = layer;
    event.name = name;
    events.push(event);
    CounterBatch counters;
    counters.rows.push_back({.ts = round, .layer = layer, .name = name});
    IntervalBatch intervals;
    intervals.rows.emplace_back().layer = layer;
    SampleBatch samples;
    samples.rows.push_back({.ts = round});
    ASSERT_TRUE(writer.append(events).has_value());
    ASSERT_TRUE(writer.append(counters).has_value());
    ASSERT_TRUE(writer.append(intervals).has_value());
    ASSERT_TRUE(writer.append(samples).has_value());
  }
  ASSERT_TRUE(writer.finish().has_value());
  const Recording recording = Recording::open(directory.path() + "/trace").value();
  for (const char* table : {kEventsTable, kCountersTable, kIntervalsTable, kSamplesTable}) {
    EXPECT_EQ(recording.parts[0].manifest.files.at(table), 3) << table;
    EXPECT_EQ(ask(recording, table, "count(*)"), "5") << table;
  }
  EXPECT_EQ(ask(recording, kSummaryTable, "sum(calls)"), "5");
}

}  // namespace
}  // namespace fathom::trace
