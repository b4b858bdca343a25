// SPDX-License-Identifier: MIT
// What a reader gets of a spool that others change: each record once, wherever it went meanwhile.
#include "trace/spool/snapshot.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "trace/decode/definer.h"
#include "trace/spool/drainer.h"
#include "trace/testing/recordings.h"

namespace fathom::trace {
namespace {

using testing::fill;
using testing::kDead;
using testing::kKey;
using testing::live_segment;
using testing::RecordWriter;
using testing::SegmentSpec;
using testing::SpoolBuilder;
using testing::TempDir;

using Runs = std::vector<std::uint64_t>;

class SnapshotTest : public ::testing::Test {
 protected:
  SegmentSpec segment(std::uint32_t state, std::uint64_t run) const {
    RecordWriter w;
    w.switch_to({kKey, kDead, kDead, 0, run, 0, builder_.at(1000 + run)});
    w.string(run + 1, "a name");
    return {w.bytes(), state, state == FATHOM_SEGMENT_OWNED ? kDead : 0, kKey};
  }
  std::string add_full(std::uint64_t run) {
    return builder_.add_pool("1-a-" + std::to_string(run), {segment(FATHOM_SEGMENT_FULL, run)},
                             self_);
  }
  Snapshot take(bool undisturbed = false, const std::vector<std::uint64_t>& replaced = {}) {
    return spool_.snapshot(Clock::of(spool_.header()), replaced, undisturbed).value();
  }
  Drainer drainer() { return Drainer::open(spool_, Clock::of(spool_.header()), 0).value(); }
  // The runs of what a snapshot has, in its order.
  static Runs runs_of(Snapshot& snapshot) {
    Runs runs;
    snapshot.visit_rows([&](const Snapshot::Batch& batch) {
      for (const Chunk& chunk : batch.chunks) {
        if (!chunk.bytes.empty()) runs.push_back(first_switch(chunk).run);
      }
    });
    return runs;
  }
  static std::size_t definitions_of(Snapshot& snapshot) {
    std::size_t bytes = 0;
    snapshot.visit_definitions([&](const Chunk& chunk) { bytes += chunk.bytes.size(); });
    return bytes;
  }

  TempDir directory_;
  SpoolBuilder builder_{directory_.path()};
  Spool spool_ = Spool::open(builder_.directory()).value();
  const std::uint32_t self_ = static_cast<std::uint32_t>(::getpid());
};

TEST_F(SnapshotTest, HasLogsAndSegmentsInTheOrderOfDraining) {
  add_full(0);
  Drainer drained = drainer();
  ASSERT_EQ(drained.drain()->chunks, 1U);
  add_full(2);
  add_full(1);
  builder_.add_pool("1-b-0", {{{}, FATHOM_SEGMENT_FREE}}, self_);
  for (const bool undisturbed : {false, true}) {
    Snapshot snapshot = take(undisturbed);
    EXPECT_EQ(runs_of(snapshot), (Runs{0, 1, 2})) << undisturbed;
    std::size_t batches = 0;
    take(undisturbed).visit_rows([&](const Snapshot::Batch&) { batches++; });
    EXPECT_EQ(batches, 2U) << "one of the log, one of all segments";
    EXPECT_FALSE(snapshot.changed());
    EXPECT_TRUE(snapshot.damaged().empty());
  }
}

// As much as a log has, so that whoever packs them needs no more memory than for a log.
TEST_F(SnapshotTest, SegmentsComeInBatchesOfTheSizeOfALog) {
  constexpr std::uint32_t kSize = 1U << 20;
  std::vector<SegmentSpec> segments(kLogBytes / kSize + 1, segment(FATHOM_SEGMENT_FULL, 0));
  for (SegmentSpec& each : segments) each.bytes.resize(kSize - FATHOM_SEGMENT_HEADER_SIZE);
  builder_.add_pool("1-a-0", segments, self_, 0, kSize);
  std::vector<std::size_t> batches;
  take(true).visit_rows(
      [&](const Snapshot::Batch& batch) { batches.push_back(batch.chunks.size()); });
  EXPECT_EQ(batches, (std::vector<std::size_t>{kLogBytes / kSize, 1}));
}

// Drained after it was measured: it is found in the log by its name, and counts once.
TEST_F(SnapshotTest, WhatIsDrainedMeanwhileIsThereOnce) {
  add_full(0);
  Drainer drained = drainer();
  ASSERT_EQ(drained.drain()->chunks, 1U);
  add_full(1);
  Snapshot before = take();
  ASSERT_EQ(drained.drain()->chunks, 1U);
  add_full(2);
  ASSERT_EQ(drained.drain()->chunks, 1U);
  EXPECT_EQ(runs_of(before), (Runs{0, 1})) << "not the one that came since";
  Snapshot after = take();
  EXPECT_EQ(runs_of(after), (Runs{0, 1, 2}));
}

// What a segment got since it was measured may be without what it refers to.
TEST_F(SnapshotTest, RowsEndWhereTheyWereMeasured) {
  const std::string path = builder_.add_pool("1-a-0", {live_segment(builder_)}, self_);
  const Pool pool = Pool::open(path, true).value();
  Snapshot snapshot = take();
  EXPECT_TRUE(snapshot.owners_alive);
  pool.segment(0).progress += 8;
  ASSERT_EQ(definitions_of(snapshot), live_segment(builder_).bytes.size());
  std::size_t bytes = 0;
  snapshot.visit_rows([&](const Snapshot::Batch& batch) {
    for (const Chunk& chunk : batch.chunks) bytes += chunk.bytes.size();
  });
  EXPECT_EQ(bytes, live_segment(builder_).bytes.size());
  // Drained since, with more in it than was measured.
  Snapshot second = take();
  pool.segment(0).progress += 8;
  pool.segment(0).claim = FATHOM_SEGMENT_FULL;
  Drainer drained = drainer();
  ASSERT_EQ(drained.drain()->chunks, 1U);
  Snapshot third = take();
  for (Snapshot* each : {&second, &third}) {
    std::size_t found = 0;
    each->visit_rows([&](const Snapshot::Batch& batch) {
      for (const Chunk& chunk : batch.chunks) found += chunk.bytes.size();
    });
    EXPECT_EQ(found, bytes + (each == &second ? 8U : 16U));
  }
}

// Not copied, as nobody was seen who writes: if somebody comes nevertheless, it is noticed.
TEST_F(SnapshotTest, ASegmentThatIsUsedAgainMeanwhileIsNoticed) {
  const std::string path = builder_.add_pool("1-a-0", {segment(FATHOM_SEGMENT_FULL, 0)}, self_);
  Snapshot undisturbed = take(true);
  Snapshot copied = take(false);
  const Pool pool = Pool::open(path, true).value();
  pool.free(0);
  fill(pool, 0, segment(FATHOM_SEGMENT_FULL, 9));
  EXPECT_EQ(runs_of(copied), Runs{0}) << "its copy is what it was";
  EXPECT_FALSE(copied.changed());
  EXPECT_EQ(runs_of(undisturbed), Runs{});
  EXPECT_TRUE(undisturbed.changed());
}

TEST_F(SnapshotTest, LogsThatParquetReplacedAreLeftOut) {
  add_full(0);
  Drainer drained = drainer();
  ASSERT_EQ(drained.drain()->chunks, 1U);
  drained.roll();
  add_full(1);
  ASSERT_EQ(drained.drain()->chunks, 1U);
  Snapshot snapshot = take(false, {0});
  EXPECT_EQ(runs_of(snapshot), Runs{1});
  Snapshot gone = take();
  drained.remove_log(0);
  EXPECT_EQ(runs_of(gone), Runs{1});
  EXPECT_TRUE(gone.changed()) << "it has to be taken again";
}

TEST_F(SnapshotTest, TellsWhoIsInTheMiddleOfWhat) {
  SegmentSpec dead = segment(FATHOM_SEGMENT_OWNED, 0);
  dead.in_call = testing::kRead;
  SegmentSpec living = live_segment(builder_);
  living.in_call = testing::kOpen;
  SegmentSpec full = segment(FATHOM_SEGMENT_FULL, 1);
  full.in_call = testing::kOpen;
  builder_.add_pool("1-a-0", {dead, living, full});
  const Snapshot snapshot = take();
  ASSERT_EQ(snapshot.in_flight.size(), 2U);
  EXPECT_EQ(snapshot.in_flight[0].kind, testing::kRead);
  EXPECT_FALSE(snapshot.in_flight[0].alive);
  EXPECT_EQ(snapshot.in_flight[1].kind, testing::kOpen);
  EXPECT_TRUE(snapshot.in_flight[1].alive);
  EXPECT_TRUE(snapshot.owners_alive);
}

// A torn end is a write that goes on, unless nobody is there who could.
TEST_F(SnapshotTest, ATornLogIsDamageOnlyWhenNobodyWrites) {
  add_full(0);
  { ASSERT_EQ(drainer().drain()->chunks, 1U); }
  const std::string path = join_path(builder_.directory(), Spool::log_name(0));
  const std::string sound = read_file(path).value();
  const std::string head = sound.substr(sound.size() - 60, 10);
  std::ofstream(path, std::ios::binary | std::ios::app) << head;
  for (const bool undisturbed : {false, true}) {
    Snapshot snapshot = take(undisturbed);
    EXPECT_EQ(runs_of(snapshot), Runs{0});
    EXPECT_EQ(snapshot.damaged().empty(), !undisturbed);
  }
}

TEST_F(SnapshotTest, DamagedFilesAreNamedAndTheOthersRead) {
  const std::string path = add_full(0);
  add_full(1);
  ASSERT_EQ(::truncate(path.c_str(), FATHOM_POOL_HEADER_SIZE + 10), 0);
  std::ofstream(join_path(builder_.directory(), "1-z-0.pool"), std::ios::binary)
      << std::string(std::size_t{2} * FATHOM_POOL_HEADER_SIZE, 'x');
  Snapshot snapshot = take();
  EXPECT_EQ(runs_of(snapshot), Runs{1});
  EXPECT_EQ(snapshot.damaged().size(), 2U);
  ASSERT_EQ(snapshot.losses().size(), 1U);
  EXPECT_EQ(snapshot.losses()[0].count, 2);
}

}  // namespace
}  // namespace fathom::trace
