// SPDX-License-Identifier: MIT
#include "trace/spool/log_tail.h"

#include <gtest/gtest.h>

#include "trace/decode/host_rows.h"
#include "trace/spool/drainer.h"
#include "trace/testing/recordings.h"

namespace fathom::trace {
namespace {

using testing::kDead;
using testing::kKey;
using testing::RecordWriter;
using testing::SpoolBuilder;
using testing::TempDir;

class LogTailTest : public ::testing::Test {
 protected:
  LogTailTest()
      : spool_(Spool::open(builder_.directory()).value()),
        drainer_(Drainer::open(spool_, Clock::of(spool_.header()), 0).value()) {}

  void drain() {
    RecordWriter w;
    w.switch_to({kKey, kDead, kDead, 0, pools_, 0, builder_.at(1000)});
    w.string(pools_ + 1, "a name");
    builder_.add_pool("1-a-" + std::to_string(pools_), {{w.bytes(), FATHOM_SEGMENT_FULL, 0, kKey}});
    pools_++;
    ASSERT_EQ(drainer_.drain()->chunks, 1U);
  }
  // How many chunks come, log by log.
  static std::vector<std::size_t> read(LogTail& tail) {
    std::vector<std::size_t> chunks;
    const Status done = tail.read([&](const LogTail::Batch& batch) {
      chunks.push_back(batch.chunks.size());
      EXPECT_EQ(batch.chunks.size(), batch.names.size());
      for (const Chunk& chunk : batch.chunks) EXPECT_NE(chunk.schema, nullptr);
    });
    EXPECT_TRUE(done.has_value());
    return chunks;
  }
  void remove_log(std::uint64_t n) { ASSERT_TRUE(spool_.files().remove(Spool::log_name(n))); }

  TempDir directory_;
  SpoolBuilder builder_{directory_.path()};
  Spool spool_;
  Drainer drainer_;
  std::uint64_t pools_ = 0;
};

using Counts = std::vector<std::size_t>;

TEST_F(LogTailTest, EachChunkOnceWhileLogsGrow) {
  LogTail tail(spool_);
  EXPECT_EQ(read(tail), Counts{});
  drain();
  EXPECT_EQ(read(tail), Counts{1});
  EXPECT_EQ(read(tail), Counts{});
  drain();
  drain();
  drainer_.roll();
  drain();
  EXPECT_EQ(read(tail), (Counts{2, 1})) << "the rest of the first, then the next";
}

TEST_F(LogTailTest, ALogThatWasBegunIsReadToItsEndThoughItIsGone) {
  LogTail tail(spool_);
  drain();
  EXPECT_EQ(read(tail), Counts{1});
  drain();
  drainer_.roll();
  drain();
  remove_log(0);
  EXPECT_EQ(read(tail), (Counts{1, 1}));
  EXPECT_TRUE(tail.knows(0));
}

TEST_F(LogTailTest, ALogThatCameAndWentIsNotKnown) {
  LogTail tail(spool_);
  drain();
  drainer_.roll();
  drain();
  remove_log(0);
  EXPECT_EQ(read(tail), Counts{1});
  EXPECT_FALSE(tail.knows(0));
  EXPECT_TRUE(tail.knows(1));
}

TEST_F(LogTailTest, WhatSomebodyElseHasIsLeftOut) {
  LogTail tail(spool_);
  drain();
  drainer_.roll();
  drain();
  tail.leave_out(0);
  EXPECT_EQ(read(tail), Counts{1});
}

TEST_F(LogTailTest, RowsOfTheRecorderComeToo) {
  LogTail tail(spool_);
  Strings strings;
  HostRows rows;
  rows.counters.rows.push_back({.ts = 5, .pid = 1, .tid = 1, .layer = strings.code("resource")});
  ASSERT_TRUE(drainer_.append(rows, strings).has_value());
  std::size_t entries = 0;
  ASSERT_TRUE(tail.read([&](const LogTail::Batch& batch) { entries += batch.rows.size(); }));
  EXPECT_EQ(entries, 1U);
}

}  // namespace
}  // namespace fathom::trace
