// SPDX-License-Identifier: MIT
// Spools into recordings: live, packed, recovered, damaged.
#include "trace/recording/recording.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "trace/recording/packer.h"
#include "trace/recording/parquet_file.h"
#include "trace/recording/parquet_tables.h"
#include "trace/recording/recording_writer.h"
#include "trace/testing/recordings.h"

namespace fathom::trace {
namespace {

using testing::ask;
using testing::dead_segment;
using testing::kDead;
using testing::kKey;
using testing::live_segment;
using testing::RecordWriter;
using testing::SegmentSpec;
using testing::SpoolBuilder;
using testing::TempDir;

TEST(RecordingTest, UnsupervisedIsReadInMemory) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  builder.add_pool("1-a-0", {dead_segment(builder), live_segment(builder)}, kDead, 4);
  const Result<Recording> recording = Recording::open(directory.path());
  ASSERT_TRUE(recording.has_value()) << recording.error().message;
  const Part& part = recording->parts.at(0);
  ASSERT_NE(part.tail, nullptr);
  EXPECT_EQ(part.tail->events.rows(), 7U);
  EXPECT_EQ(part.tail->counters.rows.size(), 1U);
  EXPECT_EQ(part.tail->processes.size(), 2U);
  EXPECT_EQ(part.manifest.host.hostname, "testhost");
  EXPECT_EQ(part.manifest.state, RunState::kRunning);
  ASSERT_EQ(part.manifest.losses.size(), 1U);
  EXPECT_EQ(part.manifest.losses[0].count, 4);
  EXPECT_FALSE(path_exists(join_path(directory.path(), kManifestFile))) << "opening writes nothing";
}

TEST(RecordingTest, RecoverPacksDeadAndLeavesLiving) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  builder.add_pool("1-a-0", {dead_segment(builder), live_segment(builder)});
  for (int round = 0; round < 3; round++) {
    ASSERT_TRUE(recover(directory.path()).has_value());
    const Result<Recording> recording = Recording::open(directory.path());
    ASSERT_TRUE(recording.has_value()) << recording.error().message;
    const Part& part = recording->parts.at(0);
    ASSERT_NE(part.tail, nullptr);
    EXPECT_EQ(part.tail->events.rows(), 1U) << "the living process's";
    EXPECT_EQ(ask(*recording, kEventsTable, "count(*)"), "6");
    EXPECT_EQ(part.manifest.state, RunState::kRunning);
    std::map<std::string, std::int64_t> layers;
    for (const LayerState& layer : part.manifest.layers) layers[layer.layer] = layer.events;
    EXPECT_EQ(layers["posix"], 5);
    EXPECT_EQ(layers["app"], 3);
    EXPECT_EQ(part.tail->processes.size(), 2U);
  }
}

TEST(RecordingTest, RecoverOfAnEndedRunIsCompleteAndRepeatable) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  builder.add_pool("1-a-0", {dead_segment(builder)}, kDead, 2);
  for (int round = 0; round < 2; round++) {
    const Status recovered = recover(directory.path());
    ASSERT_TRUE(recovered.has_value()) << recovered.error().message;
    EXPECT_FALSE(path_exists(builder.directory()));
    const Result<Recording> recording = Recording::open(directory.path());
    ASSERT_TRUE(recording.has_value()) << recording.error().message;
    const Part& part = recording->parts.at(0);
    EXPECT_EQ(part.tail, nullptr);
    EXPECT_EQ(part.manifest.state, RunState::kComplete) << part.manifest.state_reason;
    EXPECT_EQ(ask(*recording, kEventsTable, "count(*)"), "6");
    EXPECT_EQ(ask(*recording, kEventsTable, "string_agg(DISTINCT file, ',')"), "/data/a.bin");
    EXPECT_EQ(ask(*recording, kEventsTable, "max(args['epoch'])"), "-3");
    EXPECT_EQ(ask(*recording, kEventsTable, "max(args['to'])"), "/data/b.bin");
    EXPECT_EQ(ask(*recording, kEventsTable, "max(entry) FILTER (name = 'open')"), "open64");
    EXPECT_EQ(ask(*recording, kEventsTable, "string_agg(DISTINCT host, ',')"), "testhost");
    EXPECT_EQ(ask(*recording, kCountersTable, "sum(value)::BIGINT"), "42");
    EXPECT_EQ(ask(*recording, kSummaryTable, "sum(calls)"), "6");
    EXPECT_EQ(ask(*recording, kSummaryTable, "sum(self)"), "8500");
    EXPECT_EQ(ask(*recording, kTimelineTable, "sum(busy)"), "8500");
    EXPECT_EQ(ask(*recording, kProcessesTable, "max(name || ' ' || command || ' ' || \"exit\")"),
              "prog prog --fast 3");
    EXPECT_EQ(ask(*recording, kThreadsTable, "count(*)"), "1");
    ASSERT_EQ(part.manifest.losses.size(), 1U);
    EXPECT_EQ(part.manifest.losses[0].count, 2);
    EXPECT_EQ(part.files.at(kSummaryTable).size(), 1U);
  }
}

TEST(RecordingTest, KilledRecorderIsPartial) {
  const TempDir directory;
  SpoolBuilder builder(directory.path(), true);
  Manifest manifest;
  manifest.origin = "run";
  ASSERT_TRUE(write_manifest(directory.path(), manifest).has_value());
  SegmentSpec segment = dead_segment(builder);
  builder.add_pool("1-a-0", {segment});
  const Result<Recording> before = Recording::open(directory.path());
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ(before->parts[0].manifest.state, RunState::kPartial);
  ASSERT_TRUE(recover(directory.path()).has_value());
  const Result<Recording> after = Recording::open(directory.path());
  ASSERT_TRUE(after.has_value());
  EXPECT_EQ(after->parts[0].manifest.state, RunState::kPartial);
  EXPECT_EQ(ask(*after, kEventsTable, "count(*)"), "6");
}

TEST(RecordingTest, CallsInFlightAreNamed) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  RecordWriter w;
  w.switch_to({kKey, kDead, kDead, 0, 0, 0, builder.at(1000)});
  builder.add_pool("1-a-0", {{w.bytes(), FATHOM_SEGMENT_OWNED, kDead, kKey, 0, testing::kRead,
                              builder.at(5000)}});
  ASSERT_TRUE(recover(directory.path()).has_value());
  const Result<Recording> recording = Recording::open(directory.path());
  ASSERT_TRUE(recording.has_value());
  const Manifest& manifest = recording->parts[0].manifest;
  ASSERT_EQ(manifest.in_flight.size(), 1U);
  EXPECT_EQ(manifest.in_flight[0].name, "read");
  EXPECT_EQ(manifest.in_flight[0].since_ns, 5000);
  EXPECT_EQ(manifest.state, RunState::kPartial);
}

TEST(RecordingTest, WhatIsDrainedIsSeenUntilItIsPacked) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  SegmentSpec full = live_segment(builder);
  full.state = FATHOM_SEGMENT_FULL;
  builder.add_pool("1-a-0", {dead_segment(builder), full, live_segment(builder)},
                   static_cast<std::uint32_t>(::getpid()));
  Packer packer = Packer::open(directory.path(), Manifest{}, {}).value();
  const DrainResult drained = packer.drain().value();
  EXPECT_EQ(drained.chunks, 2U);
  EXPECT_TRUE(drained.owners_alive);
  HostRows rows;
  Strings strings;
  CounterRow row;
  row.ts = 5;
  row.pid = 3;
  row.layer = strings.code("resource");
  row.name = strings.code("rss");
  row.unit = strings.code("bytes");
  row.value = 4096;
  rows.counters.rows.push_back(row);
  ASSERT_TRUE(packer.append(rows, strings).has_value());
  const Result<Recording> live = Recording::open(directory.path());
  ASSERT_TRUE(live.has_value()) << live.error().message;
  EXPECT_TRUE(live->parts[0].recorder_lives);
  EXPECT_EQ(live->parts[0].tail->events.rows(), 8U);
  EXPECT_EQ(live->parts[0].tail->counters.rows.size(), 2U);
  EXPECT_FALSE(Packer::open(directory.path(), Manifest{}, {}).has_value())
      << "one packer at a time";
  ASSERT_TRUE(recover(directory.path()).has_value()) << "somebody records: nothing happens";
  const Result<FinishResult> finished = packer.finish();
  ASSERT_TRUE(finished.has_value()) << finished.error().message;
  EXPECT_TRUE(finished->owners_alive);
  const Result<Recording> packed = Recording::open(directory.path());
  ASSERT_TRUE(packed.has_value());
  EXPECT_EQ(packed->parts[0].tail->events.rows(), 1U);
  EXPECT_EQ(ask(*packed, kEventsTable, "count(*)"), "7");
  EXPECT_EQ(ask(*packed, kCountersTable, "count(*)"), "2");
  EXPECT_EQ(ask(*packed, kCountersTable, "string_agg(unit, ',')"), "bytes");
}

TEST(RecordingTest, FreedSegmentsCanBeFilledAgain) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  SegmentSpec full = live_segment(builder);
  full.state = FATHOM_SEGMENT_FULL;
  const std::string path =
      builder.add_pool("1-a-0", {full}, static_cast<std::uint32_t>(::getpid()));
  Packer packer = Packer::open(directory.path(), Manifest{}, {}).value();
  ASSERT_EQ(packer.drain()->chunks, 1U);
  const Pool pool = Pool::open(path, true).value();
  fathom_segment& segment = pool.segment(0);
  EXPECT_EQ(segment.claim, static_cast<std::uint64_t>(FATHOM_SEGMENT_FREE));
  EXPECT_EQ(segment.generation, 1U);
  EXPECT_EQ(segment.progress, static_cast<std::uint64_t>(FATHOM_SEGMENT_HEADER_SIZE));
  // The second fill refers to names of the first.
  RecordWriter w;
  const auto pid = static_cast<std::uint64_t>(::getpid());
  w.switch_to({0x99, pid, pid, 0, 1, 0, builder.at(9999500000)})
      .region(0, builder.at(9999500100), builder.at(9999500200), 2);
  std::memcpy(&segment + 1, w.bytes().data(), w.bytes().size());
  segment.progress = FATHOM_SEGMENT_HEADER_SIZE + w.bytes().size();
  segment.claim = FATHOM_SEGMENT_FULL;
  ASSERT_EQ(packer.drain()->chunks, 1U);
  ASSERT_TRUE(packer.finish().has_value());
  const Result<Recording> recording = Recording::open(directory.path());
  EXPECT_EQ(ask(*recording, kEventsTable, "count(*) FILTER (name = 'step')"), "2");
}

std::int64_t lost(const Recording& recording) {
  std::int64_t sum = 0;
  for (const Loss& loss : recording.parts[0].manifest.losses) sum += loss.count;
  return sum;
}

TEST(RecordingTest, PoolsOfOlderVersionsAreReadAndDrained) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  SegmentSpec dead = dead_segment(builder);
  dead.generation = 6;
  SegmentSpec full = live_segment(builder);
  full.state = FATHOM_SEGMENT_FULL;
  const auto self = static_cast<std::uint32_t>(::getpid());
  const std::string path = builder.add_pool("1-a-0", {dead, full}, self, 3, 4096, 2);
  const Result<Recording> live = Recording::open(directory.path());
  ASSERT_TRUE(live);
  EXPECT_EQ(Pool::open(path, false)->claim(0).owner_pid, kDead);
  const std::size_t rows = live->parts[0].tail->events.rows();
  Packer packer = Packer::open(directory.path(), Manifest{}, {}).value();
  ASSERT_EQ(packer.drain()->chunks, 2U);
  const Pool pool = Pool::open(path, true).value();
  EXPECT_EQ(pool.claim(0).state, static_cast<std::uint32_t>(FATHOM_SEGMENT_FREE));
  EXPECT_EQ(pool.claim(0).owner_pid, 0U);
  EXPECT_EQ(pool.generation(0), 7U);
  EXPECT_EQ(pool.generation(1), 1U);
  ASSERT_TRUE(packer.finish().has_value());
  const Result<Recording> packed = Recording::open(directory.path());
  EXPECT_EQ(ask(*packed, kEventsTable, "count(*)"), std::to_string(rows));
  EXPECT_EQ(lost(*packed), 3);
}

// Its owner hands it on and dies while the host looks whether it lives.
TEST(RecordingTest, ASegmentThatIsAnothersNowIsNotTaken) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  const std::string path = builder.add_pool("1-a-0", {dead_segment(builder)});
  const Pool pool = Pool::open(path, true).value();
  const Pool::Claim found = pool.claim(0);
  ASSERT_EQ(found.owner_pid, kDead);
  const auto self = static_cast<std::uint64_t>(::getpid());
  pool.segment(0).claim = FATHOM_SEGMENT_OWNED | self << 32;
  EXPECT_FALSE(pool.take_over(0, found));
  EXPECT_EQ(pool.claim(0).owner_pid, self);
  EXPECT_TRUE(pool.take_over(0, pool.claim(0)));
  EXPECT_EQ(pool.claim(0).state, static_cast<std::uint32_t>(FATHOM_SEGMENT_FULL));
}

TEST(RecordingTest, LossesOfTheRunAreToldBeforeAndAfterPacking) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  builder.lose(7);
  builder.add_pool("1-a-0", {dead_segment(builder)});
  EXPECT_EQ(lost(*Recording::open(directory.path())), 7);
  Packer packer = Packer::open(directory.path(), Manifest{}, {}).value();
  ASSERT_TRUE(packer.finish().has_value());
  EXPECT_EQ(lost(*Recording::open(directory.path())), 7);
}

TEST(RecordingTest, APackerKilledInTheMiddleCostsNothing) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  builder.add_pool("1-a-0", {dead_segment(builder)});
  std::string log;
  {
    Packer packer = Packer::open(directory.path(), Manifest{}, {}).value();
    ASSERT_EQ(packer.drain()->chunks, 1U);
    log = read_file(join_path(builder.directory(), "drained-0.log")).value();
  }
  // Killed between logging a segment and freeing it: the same chunk lies in the log and in a pool.
  builder.add_pool("1-a-0", {dead_segment(builder)});
  ASSERT_TRUE(recover(directory.path()).has_value());
  const Result<Recording> recording = Recording::open(directory.path());
  EXPECT_EQ(ask(*recording, kEventsTable, "count(*)"), "6");
  EXPECT_EQ(ask(*recording, kSummaryTable, "sum(calls)"), "6");
}

TEST(RecordingTest, APublishedLogIsNotReadAgain) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  builder.add_pool("1-a-0", {dead_segment(builder), live_segment(builder)});
  {
    Packer packer =
        Packer::open(directory.path(),
                     unsupervised_manifest(Spool::open(builder.directory()).value()), {})
            .value();
    ASSERT_EQ(packer.drain()->chunks, 1U);
    const std::string log = read_file(join_path(builder.directory(), "drained-0.log")).value();
    ASSERT_TRUE(packer.finish().has_value());
    // Killed between publishing the Parquet file and removing the log.
    ASSERT_TRUE(
        write_file_atomic(join_path(builder.directory(), "drained-0.log"), log).has_value());
  }
  const Result<Recording> open = Recording::open(directory.path());
  EXPECT_EQ(open->parts[0].tail->events.rows(), 1U);
  ASSERT_TRUE(recover(directory.path()).has_value());
  const Result<Recording> recording = Recording::open(directory.path());
  EXPECT_EQ(ask(*recording, kEventsTable, "count(*)"), "6");
}

TEST(RecordingTest, FilesAreLookedAtWhenTheyArePacked) {
  const TempDir directory;
  const TempDir data;
  const std::string file = join_path(data.path(), "there");
  ASSERT_TRUE(write_file_atomic(file, "x").has_value());
  SpoolBuilder builder(directory.path());
  RecordWriter w;
  w.switch_to({kKey, kDead, kDead, 0, 0, 0, builder.at(1000)});
  w.path(4, 0, file).path(5, 0, file + "-gone").path(6, 0, "/proc/self/maps");
  for (const std::uint64_t id : {4, 5, 6, 4})
    w.call(testing::kOpen, 0, builder.at(2000), builder.at(2400), 0,
           {fathom_zigzag(3), id, fathom_zigzag(3), 0});
  builder.add_pool("1-a-0", {{w.bytes(), FATHOM_SEGMENT_FULL, kDead, kKey}});
  ASSERT_TRUE(recover(directory.path()).has_value());
  ASSERT_EQ(::unlink(file.c_str()), 0);
  const Result<Recording> recording = Recording::open(directory.path());
  EXPECT_EQ(ask(*recording, kInodesTable, "string_agg(path, ',')"), file);
  EXPECT_EQ(ask(*recording, kInodesTable, "min(inode) > 0 AND min(device) >= 0"), "true");
}

// A name may stand in another segment than its use (a handler's, of the same thread), and be
// drained later.
TEST(RecordingTest, ANameMayBeDrainedAfterItsUse) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  RecordWriter use;
  use.switch_to({kKey, kDead, kDead, 0, 0, 0, builder.at(1000)});
  use.region(0, builder.at(1500), builder.at(4000), 2);
  RecordWriter name;
  name.switch_to({kKey, kDead, kDead, 0, 0, 1, builder.at(900)});
  name.string(1, "outer").site(2, 1, 0);
  builder.add_pool("1-a-0", {{use.bytes(), FATHOM_SEGMENT_FULL, kDead, kKey}});
  { ASSERT_EQ(Packer::open(directory.path(), Manifest{}, {})->drain()->chunks, 1U); }
  Packer packer = Packer::open(directory.path(), Manifest{}, {}).value();
  builder.add_pool("1-a-1", {{name.bytes(), FATHOM_SEGMENT_FULL, kDead, kKey}});
  ASSERT_EQ(packer.drain()->chunks, 1U);
  ASSERT_TRUE(packer.pack_complete().has_value());
  ASSERT_TRUE(packer.finish().has_value());
  const Result<Recording> recording = Recording::open(directory.path());
  EXPECT_EQ(ask(*recording, kEventsTable, "string_agg(name, ',')"), "outer");
}

TEST(RecordingTest, PoolsOfTheDeadAreRemovedAndGivenBack) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  const std::string pool =
      builder.add_pool("1-a-0", {dead_segment(builder), {{}, FATHOM_SEGMENT_FREE}}, kDead, 3);
  Packer packer = Packer::open(directory.path(), Manifest{}, {}).value();
  const DrainResult drained = packer.drain().value();
  EXPECT_FALSE(path_exists(pool));
  EXPECT_EQ(drained.pools, 0U);
  EXPECT_FALSE(drained.owners_alive);
  const Result<Recording> live = Recording::open(directory.path());
  ASSERT_EQ(live->parts[0].manifest.losses.size(), 1U) << "losses outlive their pool";
  EXPECT_EQ(live->parts[0].manifest.losses[0].count, 3);
}

TEST(RecordingTest, DamagedPoolsAndLogsNeverHurt) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  const std::string path = builder.add_pool("1-a-0", {dead_segment(builder)}, kDead, 0, 1024);
  const std::string sound = read_file(path).value();
  builder.add_pool("2-b-0", {live_segment(builder)});
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < sizeof(fathom_pool_header); at++) places.push_back(at);
  for (std::size_t at = FATHOM_POOL_HEADER_SIZE; at < sound.size(); at++) places.push_back(at);
  for (const std::size_t at : places) {
    std::string flipped = sound;
    flipped[at] = static_cast<char>(flipped[at] ^ 0xff);
    for (const std::string& content : {flipped, sound.substr(0, at)}) {
      std::ofstream(path, std::ios::binary | std::ios::trunc)
          << content;  // thousands of times: no fsync
      const Result<Recording> recording = Recording::open(directory.path());
      ASSERT_TRUE(recording.has_value()) << at << ": " << recording.error().message;
      EXPECT_GE(recording->parts[0].tail->events.rows(), 1U) << at << ": the other pool is sound";
    }
  }
}

TEST(RecordingTest, ErrorsSayWhatIsWrong) {
  const TempDir directory;
  EXPECT_EQ(Recording::open(directory.path() + "/none").error().code, Code::kNotFound);
  EXPECT_NE(Recording::open(directory.path()).error().message.find("is empty"), std::string::npos);
  const std::string file = directory.path() + "/file";
  ASSERT_TRUE(write_file_atomic(file, "x").has_value());
  EXPECT_EQ(Recording::open(file).error().code, Code::kInvalid);
  EXPECT_NE(Recording::open(directory.path()).error().message.find("holds no recording"),
            std::string::npos);
  ASSERT_TRUE(write_file_atomic(directory.path() + "/manifest.json", "{\"schema\": 1").has_value());
  EXPECT_EQ(Recording::open(directory.path()).error().code, Code::kCorrupt);
  ASSERT_TRUE(
      write_file_atomic(directory.path() + "/manifest.json", R"({"schema": 7})").has_value());
  EXPECT_EQ(Recording::open(directory.path()).error().code, Code::kUnsupported);
}

TEST(RecordingTest, PartsComeInTheOrderOfTheirNumbers) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  builder.add_pool("1-a-0", {dead_segment(builder)});
  ASSERT_TRUE(recover(directory.path()).has_value());
  std::vector<std::string> wanted;
  const auto part = [&](std::uint64_t n) {
    return join_path(directory.path(), parquet_name(kEventsTable, n));
  };
  const std::string bytes = read_file(part(0)).value();
  for (std::uint64_t n = 0; n < 12; ++n) {
    ASSERT_TRUE(write_file_atomic(part(n), bytes).has_value());
    wanted.push_back(part(n));
  }
  const Result<Recording> recording = Recording::open(directory.path());
  ASSERT_TRUE(recording.has_value());
  std::vector<std::string> found;
  for (const DataFile& file : recording->parts[0].files.at(kEventsTable))
    found.push_back(file.path);
  EXPECT_EQ(found, wanted);
}

TEST(RecordingTest, ADamagedParquetFileIsSetAside) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  builder.add_pool("1-a-0", {dead_segment(builder)});
  ASSERT_TRUE(recover(directory.path()).has_value());
  const std::string file = join_path(directory.path(), parquet_name(kEventsTable, 0));
  const std::string sound = read_file(file).value();
  ASSERT_TRUE(write_file_atomic(file, sound.substr(0, sound.size() - 3)).has_value());
  const Result<Recording> recording = Recording::open(directory.path());
  ASSERT_TRUE(recording.has_value());
  ASSERT_EQ(recording->parts[0].damaged.size(), 1U);
  EXPECT_EQ(recording->parts[0].damaged[0].path, file);
  EXPECT_EQ(recording->parts[0].manifest.state, RunState::kPartial);
  EXPECT_FALSE(recording->parts[0].files.contains(kEventsTable));
}

}  // namespace
}  // namespace fathom::trace
