// SPDX-License-Identifier: MIT
// From logs to Parquet: what is packed, when, and what stays where it is.
#include "trace/recording/packer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "trace/recording/parquet_file.h"
#include "trace/recording/parquet_tables.h"
#include "trace/recording/recording.h"
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

class PackerTest : public ::testing::Test {
 protected:
  [[nodiscard]] Packer packer(PackerOptions options = {}) const {
    return Packer::open(directory_.path(), Manifest{}, std::move(options)).value();
  }
  [[nodiscard]] std::string in_spool(const std::string& name) const {
    return join_path(builder_.directory(), name);
  }
  [[nodiscard]] bool has_part(std::uint64_t n) const {
    return path_exists(join_path(directory_.path(), parquet_name(kEventsTable, n)));
  }
  // One instant in a log of its own.
  void drain_one(Packer& packer, std::uint64_t run) {
    RecordWriter w;
    w.switch_to({kKey, kDead, kDead, 0, run, 0, builder_.at(1000 + run)});
    w.string(1, "tick").site(2, 1, 0).instant(0, builder_.at(2000 + run), 2);
    builder_.add_pool("1-a-" + std::to_string(run), {{w.bytes(), FATHOM_SEGMENT_FULL, 0, kKey}});
    ASSERT_EQ(packer.drain()->chunks, 1U);
    packer.look([](Drainer& drainer) { drainer.roll(); });
  }
  [[nodiscard]] Recording recording() const { return Recording::open(directory_.path()).value(); }

  TempDir directory_;
  SpoolBuilder builder_{directory_.path()};
};

TEST_F(PackerTest, OneAtATime) {
  const Packer first = packer();
  const Result<Packer> second = Packer::open(directory_.path(), Manifest{}, {});
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, Code::kDenied);
}

TEST_F(PackerTest, ALogGoesWhenItsFileIsThere) {
  Packer packer = this->packer();
  drain_one(packer, 0);
  EXPECT_TRUE(path_exists(in_spool("drained-0.log")));
  EXPECT_EQ(packer.progress().events, 0U);
  ASSERT_TRUE(packer.pack_complete().has_value());
  EXPECT_FALSE(path_exists(in_spool("drained-0.log")));
  EXPECT_TRUE(has_part(0));
  EXPECT_EQ(packer.progress().events, 1U);
  EXPECT_GT(packer.progress().parquet_bytes, 0U);
  ASSERT_TRUE(packer.pack_complete().has_value());
  EXPECT_EQ(packer.progress().events, 1U) << "there was nothing more";
}

TEST_F(PackerTest, ALogThatIsBeingWrittenIsNotPacked) {
  Packer packer = this->packer();
  builder_.add_pool("1-a-0", {dead_segment(builder_)});
  ASSERT_EQ(packer.drain()->chunks, 1U);
  ASSERT_TRUE(packer.pack_complete().has_value());
  EXPECT_FALSE(has_part(0));
  EXPECT_TRUE(path_exists(in_spool("drained-0.log")));
}

// Whoever is told to stop leaves the rest, in order, and the next one goes on.
TEST_F(PackerTest, StopsWhereItIsTold) {
  {
    Packer packer = this->packer();
    for (std::uint64_t run = 0; run < 4; run++) drain_one(packer, run);
    std::vector<std::uint64_t> asked;
    ASSERT_TRUE(packer
                    .pack_complete([&](std::uint64_t n) {
                      asked.push_back(n);
                      return n < 2;
                    })
                    .has_value());
    EXPECT_EQ(asked, (std::vector<std::uint64_t>{0, 1, 2}));
    EXPECT_TRUE(has_part(1));
    EXPECT_FALSE(has_part(2));
    EXPECT_TRUE(path_exists(in_spool("drained-2.log")));
    const FinishResult ended = packer.finish("", [](std::uint64_t) { return false; }).value();
    EXPECT_TRUE(ended.interrupted);
    EXPECT_TRUE(path_exists(builder_.directory()));
  }
  EXPECT_EQ(recording().parts[0].tail->events.rows(), 2U) << "readers see both";
  const FinishResult ended = packer().finish().value();
  EXPECT_FALSE(ended.interrupted);
  EXPECT_EQ(ask(recording(), kEventsTable, "count(*)"), "4");
  EXPECT_EQ(ask(recording(), kSummaryTable, "sum(calls)"), "4") << "of both packers";
  EXPECT_FALSE(path_exists(builder_.directory()));
}

TEST_F(PackerTest, SumsUpWhatIsPackedAndWhatIsNot) {
  Packer packer = this->packer();
  for (std::uint64_t run = 0; run < 3; run++) drain_one(packer, run);
  ASSERT_TRUE(packer.pack_complete([](std::uint64_t n) { return n == 0; }).has_value());
  for (int round = 0; round < 2; round++) {
    const Result<Totals> totals = packer.sum_up();
    ASSERT_TRUE(totals.has_value()) << totals.error().message;
    EXPECT_EQ(totals->waiting, 2U);
    ASSERT_EQ(totals->summary.rows().size(), 1U);
    EXPECT_EQ(totals->summary.rows()[0].calls, 3) << "round " << round;
  }
  ASSERT_TRUE(packer.finish().has_value());
  EXPECT_EQ(ask(recording(), kSummaryTable, "sum(calls)"), "3");
}

TEST_F(PackerTest, LeavesTheSpoolToWhoLives) {
  Packer packer = this->packer();
  builder_.add_pool("1-a-0", {dead_segment(builder_), live_segment(builder_)});
  const FinishResult ended = packer.finish().value();
  EXPECT_TRUE(ended.owners_alive);
  EXPECT_EQ(ended.state, RunState::kRunning);
  EXPECT_TRUE(path_exists(builder_.directory()));
  EXPECT_EQ(ask(recording(), kEventsTable, "count(*)"), "6");
}

// What the program itself wrote may lie in a segment that a daemon goes on in.
TEST_F(PackerTest, SumsUpWhatTheLivingHaveInTheirSegments) {
  Packer packer = this->packer();
  builder_.add_pool("1-a-0", {dead_segment(builder_), live_segment(builder_)});
  for (int round = 0; round < 2; round++) {
    const Totals totals = packer.sum_up().value();
    EXPECT_EQ(totals.events, 6 + 1) << "round " << round;
    EXPECT_EQ(totals.manifest.state, RunState::kRunning);
  }
  ASSERT_TRUE(packer.finish().has_value());
  EXPECT_EQ(ask(recording(), kEventsTable, "count(*)"), "6") << "those of the living wait";
}

TEST_F(PackerTest, SaysWhyARecordingIsPartial) {
  Packer packer = this->packer();
  drain_one(packer, 0);
  EXPECT_EQ(packer.finish("somebody pulled the plug")->state, RunState::kPartial);
  EXPECT_EQ(recording().parts[0].manifest.state_reason, "somebody pulled the plug");
}

TEST_F(PackerTest, KnowsTheProgramAndHowLongItRan) {
  builder_.add_pool("1-a-0", {dead_segment(builder_)});
  for (const auto& [pid, attached] : {std::pair{std::int64_t{kDead}, true}, {5, false}}) {
    Manifest manifest;
    manifest.pid = pid;
    Packer packer = Packer::open(directory_.path(), manifest, {}).value();
    const Totals totals = packer.sum_up().value();
    EXPECT_EQ(totals.program_attached, attached) << pid;
    EXPECT_EQ(totals.manifest.duration_ns, 11000) << "its last record";
  }
}

// A daemon is recorded when the program that started it has ended.
TEST_F(PackerTest, ARunLastsAsLongAsItsLastProcess) {
  builder_.add_pool("1-a-0", {dead_segment(builder_)});
  for (const std::int64_t known : {5'000, 500'000}) {
    Packer packer = this->packer();
    packer.manifest().duration_ns = known;
    EXPECT_EQ(packer.sum_up()->manifest.duration_ns, std::max<std::int64_t>(known, 11'000));
  }
}

TEST_F(PackerTest, ARunLastsAsLongAsItsLastThreadThatWasSeen) {
  HostRows rows;
  ThreadRow& thread = rows.lives.threads.emplace_back();
  thread.pid = thread.tid = 7;
  thread.start = 10;
  thread.end = 5'020;
  thread.ready = 0;
  Packer packer = this->packer();
  packer.manifest().duration_ns = 5'000;
  Strings strings;
  ASSERT_TRUE(packer.append(std::move(rows), strings).has_value());
  EXPECT_EQ(packer.sum_up()->manifest.duration_ns, 5'020);
}

TEST_F(PackerTest, NobodyKnowsHowLongWhatRunsWillRun) {
  builder_.add_pool("1-a-0", {dead_segment(builder_), live_segment(builder_)});
  EXPECT_FALSE(packer().sum_up()->manifest.duration_ns.has_value());
}

TEST_F(PackerTest, ThreadsHaveTheNamesThatTheyGaveThemselves) {
  RecordWriter w;
  w.switch_to({kKey, kDead, kDead, 0, 0, 0, builder_.at(1000)});
  w.string(1, "worker").thread_name(1).string(2, "tick").site(3, 2, 0);
  w.instant(0, builder_.at(2000), 3);
  builder_.add_pool("1-a-0", {{w.bytes(), FATHOM_SEGMENT_FULL, 0, kKey}});
  ASSERT_TRUE(packer().finish().has_value());
  EXPECT_EQ(ask(recording(), kThreadsTable, "string_agg(name, ',')"), "worker");
}

// Its maker died over it: there is nothing in it. One that is shorter was cut.
TEST_F(PackerTest, APoolThatIsNotReadyIsNoDamage) {
  for (const auto& [bytes, state] : {std::pair{FATHOM_POOL_HEADER_SIZE, RunState::kComplete},
                                     {FATHOM_POOL_HEADER_SIZE - 1, RunState::kPartial}}) {
    const TempDir directory;
    const SpoolBuilder builder(directory.path());
    const std::string pool = join_path(builder.directory(), "1.pool");
    ASSERT_TRUE(
        write_file_atomic(pool, std::string(static_cast<std::size_t>(bytes), 0)).has_value());
    Packer packer = Packer::open(directory.path(), Manifest{}, {}).value();
    EXPECT_EQ(packer.finish()->state, state) << bytes;
  }
}

TEST_F(PackerTest, PartsAreKnownByTheirNumbers) {
  for (const std::uint64_t n : {2, 10, 1, 9})
    ASSERT_TRUE(write_file_atomic(join_path(directory_.path(), parquet_name(kEventsTable, n)), "x")
                    .has_value());
  const Directory directory = Directory::open(directory_.path()).value();
  EXPECT_EQ(parquet_parts(directory, kEventsTable), (std::vector<std::uint64_t>{1, 2, 9, 10}));
  EXPECT_TRUE(parquet_parts(directory, kSummaryTable).empty());
}

// A read that failed has moved nothing: it has no size in the sums of the recording either.
TEST_F(PackerTest, FailedCallsHaveNoSize) {
  Packer packer = this->packer();
  builder_.add_pool("1-a-0", {dead_segment(builder_)});  // reads 4096 and 100 bytes, fails once
  ASSERT_TRUE(packer.finish().has_value());
  const std::string of_read = " FILTER (name = 'read')";
  EXPECT_EQ(ask(recording(), kSummaryTable, "sum(calls)" + of_read), "3");
  EXPECT_EQ(ask(recording(), kSummaryTable, "sum(errors)" + of_read), "1");
  EXPECT_EQ(ask(recording(), kSummaryTable, "sum(bytes)" + of_read), "4196");
  EXPECT_EQ(ask(recording(), kSummaryTable, "sum(list_sum(sizes))" + of_read + "::BIGINT"), "2");
}

// The last recording of a daemon may tell of an end alone.
TEST_F(PackerTest, ProcessesWithoutRowsAreNoGap) {
  HostRows rows;
  rows.lives.processes.emplace_back().pid = 7;
  Packer packer = this->packer();
  ASSERT_TRUE(packer.append(rows, Strings()).has_value());
  EXPECT_EQ(packer.finish()->state, RunState::kComplete);
  EXPECT_TRUE(recording().parts[0].manifest.losses.empty());
  EXPECT_EQ(ask(recording(), kProcessesTable, "string_agg(pid, ',')"), "7");
}

HostRows sampled_rows(Strings& strings) {
  HostRows rows;
  StackTable stacks;
  Frame place;
  place.module = strings.code("/opt/my tools/program");
  place.build_id = strings.code("0a1b");
  place.offset = 16;
  Frame elsewhere = place;
  elsewhere.offset = 32;
  SampleRow sample;
  sample.ts = 5;
  sample.pid = sample.tid = 7;
  sample.event = strings.code("cpu-clock");
  sample.weight = 100;
  sample.stack = stacks.stack(std::vector{elsewhere, place}, strings);
  rows.samples.rows.push_back(sample);
  rows.frames = stacks.take_new();
  return rows;
}

// The place at 16 holds an inlined function; nobody knows the one at 32.
NameResolver resolver_of_one_place() {
  NameResolver resolver;
  resolver.frames = [](const CodePlace& place) -> NamedPlace {
    if (place.module != "/opt/my tools/program" || place.build_id != "0a1b") return {};
    if (place.offset != 16) return {.readable = true};
    return {.readable = true,
            .address = 4112,
            .frames = {{.function = "outer", .file = "a.c", .line = 3},
                       {.function = "inner", .file = "b.h", .line = 4}}};
  };
  return resolver;
}

TEST_F(PackerTest, SamplesAreNamedWhenTheyArePacked) {
  const auto told = [&](const char* columns) { return ask(recording(), kFramesTable, columns); };
  Strings strings;
  Packer packer = this->packer({.resolver = resolver_of_one_place(), .library = ""});
  ASSERT_TRUE(packer.append(sampled_rows(strings), strings).has_value());
  Recording live = recording();
  EXPECT_EQ(live.parts[0].tail->samples.rows.size(), 1U);
  EXPECT_EQ(live.parts[0].tail->strings.view(live.parts[0].tail->frames.rows[0].frame.function),
            "program+0x20");
  EXPECT_EQ(live.parts[0].manifest.layer("cpu").events, 1);
  ASSERT_TRUE(packer.finish().has_value());
  EXPECT_EQ(told("string_agg(\"function\", ' > ' ORDER BY depth)"), "program+0x20 > outer > inner");
  EXPECT_EQ(told("string_agg(line, ',' ORDER BY depth)"), "3,4");
  EXPECT_EQ(told("string_agg(depth || '@' || \"offset\" || build_id, ',' ORDER BY depth)"),
            "0@320a1b,1@160a1b,2@160a1b");
  EXPECT_EQ(ask(recording(), kSamplesTable, "sum(weight)"), "100");
  EXPECT_EQ(recording().parts[0].manifest.layer("cpu").events, 1);
}

// Rows of the kernel that came one by one keep their errors on the way to Parquet.
TEST_F(PackerTest, RowsOfTheHostAreWhatTheyWere) {
  Strings strings;
  HostRows rows;
  EventRow event;
  event.ts = 5;
  event.dur = 2;
  event.layer = strings.code("syscall");
  event.name = strings.code("read");
  event.error = strings.code("EIO");
  rows.events.push(event);
  IntervalRow interval;
  interval.width = 100;
  interval.layer = strings.code("syscall");
  interval.name = strings.code("read");
  interval.calls = 3;
  interval.errors = 2;
  interval.dur = 9;
  rows.intervals.rows.push_back(interval);
  Packer packer = this->packer();
  ASSERT_TRUE(packer.append(rows, strings).has_value());
  ASSERT_TRUE(packer.finish().has_value());
  EXPECT_EQ(ask(recording(), kEventsTable, "string_agg(error, ',')"), "EIO");
  EXPECT_EQ(ask(recording(), kIntervalsTable, "sum(errors)"), "2");
  EXPECT_EQ(ask(recording(), kSummaryTable, "sum(calls)"), "3");
  EXPECT_EQ(ask(recording(), kSummaryTable, "sum(errors)"), "2");
}

}  // namespace
}  // namespace fathom::trace
