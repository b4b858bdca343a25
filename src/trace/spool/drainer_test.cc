// SPDX-License-Identifier: MIT
// What a drainer takes, what it leaves, and when it closes a pool.
#include "trace/spool/drainer.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/testing/write_trap.h"
#include "trace/decode/definer.h"
#include "trace/testing/recordings.h"

namespace fathom::trace {
namespace {

using fathom::testing::shared_mapping_of;
using fathom::testing::WriteTrap;
using testing::fill;
using testing::kDead;
using testing::kKey;
using testing::live_segment;
using testing::RecordWriter;
using testing::SegmentSpec;
using testing::SpoolBuilder;
using testing::TempDir;

class DrainerTest : public ::testing::Test {
 protected:
  Drainer drainer() { return Drainer::open(spool_, Clock::of(spool_.header()), 0).value(); }
  // Of a thread of a dead process: runs tell them apart.
  SegmentSpec segment(std::uint32_t state, std::uint64_t run = 0, std::uint64_t at = 1000) const {
    RecordWriter w;
    w.switch_to({kKey, kDead, kDead, 0, run, 0, builder_.at(at)});
    w.string(run + 1, "a name");
    return {w.bytes(), state, state == FATHOM_SEGMENT_OWNED ? kDead : 0, kKey};
  }
  // The runs of the chunks that lie in all logs, in their order.
  std::vector<std::uint64_t> logged_runs() const {
    std::vector<std::uint64_t> runs;
    for (const std::uint64_t n : spool_.logs()) {
      const std::string bytes = read_file(spool_.log_path(n)).value();
      scan_log({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
               [&](const LogEntry& entry, std::uint64_t) {
                 if (entry.kind != EntryKind::kChunk) return;
                 runs.push_back(first_switch({entry.bytes, nullptr}).run);
               });
    }
    return runs;
  }
  std::uint64_t booked() const { return Spool::open(builder_.directory())->header().pool_bytes; }

  TempDir directory_;
  SpoolBuilder builder_{directory_.path()};
  Spool spool_ = Spool::open(builder_.directory()).value();
  const std::uint32_t self_ = static_cast<std::uint32_t>(::getpid());
};

using Runs = std::vector<std::uint64_t>;

TEST_F(DrainerTest, TakesWhatIsFullAndWhatTheDeadLeft) {
  struct Case {
    const char* what;
    std::uint32_t state;
    std::uint32_t creator;
    bool taken;
  };
  const Case cases[] = {
      {"full, of a pool in use", FATHOM_SEGMENT_FULL, self_, true},
      {"full, of a pool of the dead", FATHOM_SEGMENT_FULL, kDead, true},
      {"owned by the dead", FATHOM_SEGMENT_OWNED, self_, true},
      {"half full, for anybody of a pool in use", FATHOM_SEGMENT_PARTIAL, self_, false},
      {"half full, where nobody is left", FATHOM_SEGMENT_PARTIAL, kDead, true},
      {"free", FATHOM_SEGMENT_FREE, self_, false},
  };
  std::uint64_t run = 0;
  for (const Case& c : cases) {
    const std::string name = "1-a-" + std::to_string(run);
    const std::string path = builder_.add_pool(name, {segment(c.state, run)}, c.creator);
    Drainer drained = drainer();
    EXPECT_EQ(drained.drain()->chunks, c.taken ? 1U : 0U) << c.what;
    EXPECT_EQ(path_exists(path), c.creator == self_) << c.what;
    const Runs logged = logged_runs();
    EXPECT_EQ(std::ranges::count(logged, run), c.taken ? 1 : 0) << c.what;
    (void)::unlink(path.c_str());
    run++;
  }
}

// Of a pool whose creator is gone, a half full segment is for the others that write there.
TEST_F(DrainerTest, AHalfFullSegmentIsLeftWhileAnyOwnerLives) {
  const std::string path =
      builder_.add_pool("1-a-0", {segment(FATHOM_SEGMENT_PARTIAL), live_segment(builder_)});
  Drainer drained = drainer();
  const DrainResult pass = drained.drain().value();
  EXPECT_EQ(pass.chunks, 0U);
  EXPECT_TRUE(pass.owners_alive);
  const Pool pool = Pool::open(path, true).value();
  EXPECT_EQ(pool.claim(0).state, static_cast<std::uint32_t>(FATHOM_SEGMENT_PARTIAL));
  pool.segment(1).claim = FATHOM_SEGMENT_FULL;
  EXPECT_EQ(drained.drain()->chunks, 2U) << "nobody is left who could go on in it";
  EXPECT_FALSE(path_exists(path));
}

// A child may claim a segment after the drainer saw all of them free, and before it closes the
// pool: of the two, one must see the other.
TEST_F(DrainerTest, AClaimRightBeforeThePoolIsClosedKeepsIt) {
  const std::string path = builder_.add_pool("1-a-0", {live_segment(builder_), {{}, 0}});
  Drainer drained = drainer();
  ASSERT_TRUE(drained.drain()->owners_alive);
  void* const its_view = shared_mapping_of(path);
  ASSERT_NE(its_view, nullptr);
  const Pool pool = Pool::open(path, true).value();
  pool.free(0);
  {
    const WriteTrap close(its_view, FATHOM_POOL_HEADER_SIZE, [&] {
      EXPECT_EQ(pool.header().state, static_cast<std::uint32_t>(FATHOM_POOL_OPEN));
      pool.segment(1).claim = fathom_claim(FATHOM_SEGMENT_OWNED, self_, 0);
    });
    ASSERT_TRUE(drained.drain().has_value());
    ASSERT_TRUE(close.fired());
  }
  EXPECT_TRUE(path_exists(path));
  EXPECT_EQ(pool.header().state, static_cast<std::uint32_t>(FATHOM_POOL_OPEN))
      << "whoever claimed meanwhile goes on here, and others may come";
  fill(pool, 1, segment(FATHOM_SEGMENT_FULL, 7));
  EXPECT_EQ(drained.drain()->chunks, 1U);
  EXPECT_EQ(logged_runs(), Runs{7});
  EXPECT_FALSE(path_exists(path));
}

TEST_F(DrainerTest, APoolThatIsRemovedSaysSoAndGivesItsRoomBack) {
  const std::string path = builder_.add_pool("1-a-0", {segment(FATHOM_SEGMENT_FULL)}, self_, 5);
  const Pool pool = Pool::open(path, true).value();
  fathom_run_header header = builder_.header();
  header.pool_bytes = 3 * pool.file_bytes();
  builder_.write_page(header);
  Drainer drained = drainer();
  ASSERT_EQ(drained.drain()->pools, 1U);
  EXPECT_EQ(pool.header().offers, 1U) << "guests look again where something was freed";
  EXPECT_EQ(pool.generation(0), 1U);
  pool.header().creator_pid = kDead;
  const DrainResult pass = drained.drain().value();
  EXPECT_EQ(pass.pools, 0U);
  EXPECT_EQ(pass.pool_bytes, 0U);
  EXPECT_FALSE(pass.owners_alive);
  EXPECT_EQ(pass.lost, 5U) << "what it counted stays counted";
  EXPECT_EQ(pool.header().state, static_cast<std::uint32_t>(FATHOM_POOL_REMOVED));
  EXPECT_EQ(booked(), 2 * pool.file_bytes());
}

// A thread's earlier records are logged before its later ones, whatever segments they are in.
TEST_F(DrainerTest, LogsInTheOrderOfWriting) {
  builder_.add_pool("1-a-0",
                    {segment(FATHOM_SEGMENT_FULL, 2, 3000), segment(FATHOM_SEGMENT_OWNED, 3, 4000),
                     segment(FATHOM_SEGMENT_FULL, 0, 1000)});
  builder_.add_pool("1-b-0", {segment(FATHOM_SEGMENT_FULL, 1, 2000)});
  Drainer drained = drainer();
  ASSERT_EQ(drained.drain()->chunks, 4U);
  EXPECT_EQ(logged_runs(), (Runs{0, 1, 2, 3}));
}

TEST_F(DrainerTest, TellsWhatTheDeadWereInTheMiddleOf) {
  SegmentSpec reading = segment(FATHOM_SEGMENT_OWNED, 0);
  reading.in_call = testing::kRead;
  reading.in_call_since = builder_.at(1500);
  SegmentSpec handed_on = segment(FATHOM_SEGMENT_FULL, 1);
  handed_on.in_call = testing::kOpen;  // of an owner that went on elsewhere
  builder_.add_pool("1-a-0", {reading, handed_on});
  Drainer drained = drainer();
  const DrainResult pass = drained.drain().value();
  ASSERT_EQ(pass.died_in.size(), 1U);
  EXPECT_EQ(pass.died_in[0].pid, kDead);
  EXPECT_EQ(pass.died_in[0].key, kKey);
  EXPECT_EQ(pass.died_in[0].kind, testing::kRead);
  EXPECT_EQ(pass.died_in[0].since_tick, builder_.at(1500));
  EXPECT_FALSE(pass.died_in[0].alive);
}

// Killed between logging and freeing: the next drainer frees it and logs nothing again.
TEST_F(DrainerTest, WhatIsInALogAlreadyIsOnlyFreed) {
  const std::string path = builder_.add_pool("1-a-0", {segment(FATHOM_SEGMENT_FULL)}, self_);
  ASSERT_EQ(drainer().drain()->chunks, 1U);
  builder_.add_pool("1-a-0", {segment(FATHOM_SEGMENT_FULL)}, self_);  // as it was before
  Drainer next = drainer();
  ASSERT_TRUE(next.drain().has_value());
  EXPECT_EQ(logged_runs(), Runs{0});
  const Pool pool = Pool::open(path, true).value();
  EXPECT_EQ(pool.claim(0).state, static_cast<std::uint32_t>(FATHOM_SEGMENT_FREE));
  // The fill after it has another name.
  fill(pool, 0, segment(FATHOM_SEGMENT_FULL, 1));
  ASSERT_EQ(next.drain()->chunks, 1U);
  EXPECT_EQ(logged_runs(), (Runs{0, 1}));
}

// No log can be made: nothing is freed, and the next pass takes it.
TEST_F(DrainerTest, WhatCannotBeLoggedStaysWhereItIs) {
  const std::string path = builder_.add_pool("1-a-0", {segment(FATHOM_SEGMENT_FULL)}, self_);
  for (const char* name : {"drained-0.log", "drained-1.log"})
    ASSERT_TRUE(make_dirs(join_path(builder_.directory(), name)).has_value());
  Drainer drained = drainer();
  const DrainResult pass = drained.drain().value();
  EXPECT_TRUE(pass.trouble.has_value());
  EXPECT_EQ(pass.chunks, 0U);
  EXPECT_EQ(Pool::open(path, false)->claim(0).state,
            static_cast<std::uint32_t>(FATHOM_SEGMENT_FULL));
  for (const char* name : {"drained-0.log", "drained-1.log"})
    ASSERT_EQ(::rmdir(join_path(builder_.directory(), name).c_str()), 0);
  EXPECT_EQ(drained.drain()->chunks, 1U);
  EXPECT_EQ(logged_runs(), Runs{0});
}

TEST_F(DrainerTest, LogsAreRolledAndNumbered) {
  builder_.add_pool("1-a-0", {segment(FATHOM_SEGMENT_FULL, 0)});
  Drainer drained = drainer();
  ASSERT_TRUE(drained.drain().has_value());
  EXPECT_TRUE(drained.complete_logs().empty()) << "it is being written";
  EXPECT_EQ(drained.log_end().log, 0U);
  EXPECT_GT(drained.log_end().bytes, 0U);
  drained.roll();
  EXPECT_EQ(drained.complete_logs(), Runs{0});
  EXPECT_EQ(drained.log_end(), (LogEnd{1, 0}));
  drained.roll();
  EXPECT_EQ(drained.log_end(), (LogEnd{1, 0})) << "nothing to roll";
  builder_.add_pool("1-b-0", {segment(FATHOM_SEGMENT_FULL, 1)});
  ASSERT_TRUE(drained.drain().has_value());
  EXPECT_EQ(drained.noted(0).entries, 1U);
  EXPECT_EQ(drained.noted(1).entries, 1U);
  drained.remove_log(0);
  EXPECT_FALSE(path_exists(spool_.log_path(0)));
  EXPECT_EQ(logged_runs(), Runs{1});
}

TEST_F(DrainerTest, LiveStateTellsWhatIsNew) {
  const std::string path =
      builder_.add_pool("1-a-0", {live_segment(builder_), {{}, FATHOM_SEGMENT_FREE}}, self_);
  Drainer drained = drainer();
  ASSERT_TRUE(drained.drain().has_value());
  const Pool pool = Pool::open(path, true).value();
  const Drainer::LiveState before = drained.live_state();
  EXPECT_FALSE(before.full);
  pool.segment(1).claim = fathom_claim(FATHOM_SEGMENT_OWNED, self_, 0);
  EXPECT_NE(drained.live_state().bytes, before.bytes) << "a claim is news";
  pool.segment(0).claim = FATHOM_SEGMENT_FULL;
  EXPECT_TRUE(drained.live_state().full);
  const std::vector<Drainer::LiveCopy> copies = drained.copy_live();
  ASSERT_EQ(copies.size(), 2U);
  EXPECT_EQ(copies[0].bytes, live_segment(builder_).bytes);
  EXPECT_NE(copies[0].schema, nullptr);
}

}  // namespace
}  // namespace fathom::trace
