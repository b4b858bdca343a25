// SPDX-License-Identifier: MIT
#include "trace/spool/log_follower.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "trace/recording/packer.h"
#include "trace/testing/recordings.h"

namespace fathom::trace {
namespace {

using testing::kDead;
using testing::kKey;
using testing::RecordWriter;
using testing::SegmentSpec;
using testing::SpoolBuilder;
using testing::TempDir;

SegmentSpec full_segment(const SpoolBuilder& builder, std::uint64_t run) {
  RecordWriter w;
  w.switch_to({kKey, kDead, kDead, 0, run, 0, builder.at(1000)});
  w.string(run + 1, "a name");
  return {w.bytes(), FATHOM_SEGMENT_FULL, kDead, kKey};
}

class LogFollowerTest : public ::testing::Test {
 protected:
  LogFollowerTest() : spool_(Spool::open(builder_.directory()).value()) {}

  Drainer drainer() { return Drainer::open(spool_, Clock::of(spool_.header()), 0).value(); }
  void drain(Drainer& drainer) {
    builder_.add_pool("1-a-" + std::to_string(pools_), {full_segment(builder_, pools_)});
    pools_++;
    ASSERT_EQ(drainer.drain()->chunks, 1U);
  }
  // How many chunks it brings, log by log.
  static std::vector<std::size_t> follow(LogFollower& follower, LogEnd end) {
    std::vector<std::size_t> chunks;
    const Status followed = follower.follow(end, [&](std::span<const Chunk> some) -> Status {
      chunks.push_back(some.size());
      EXPECT_NE(some[0].schema, nullptr);
      return {};
    });
    EXPECT_TRUE(followed.has_value());
    return chunks;
  }

  TempDir directory_;
  SpoolBuilder builder_{directory_.path()};
  Spool spool_;
  std::uint64_t pools_ = 0;
};

using Counts = std::vector<std::size_t>;

TEST_F(LogFollowerTest, EachChunkOnceWhileTheLogGrows) {
  Drainer drained = drainer();
  LogFollower follower(spool_, 0);
  EXPECT_EQ(follow(follower, drained.log_end()), Counts{});
  drain(drained);
  const LogEnd first = drained.log_end();
  drain(drained);
  EXPECT_EQ(follow(follower, first), Counts{1}) << "not what was drained behind that";
  EXPECT_EQ(follow(follower, first), Counts{});
  EXPECT_EQ(follow(follower, drained.log_end()), Counts{1});
}

TEST_F(LogFollowerTest, GoesOnInTheNextLog) {
  Drainer drained = drainer();
  LogFollower follower(spool_, 0);
  drain(drained);
  drain(drained);
  drained.roll();
  EXPECT_EQ(drained.log_end(), (LogEnd{1, 0})) << "the first one is complete";
  drain(drained);
  EXPECT_EQ(follow(follower, drained.log_end()), (Counts{2, 1}));
  EXPECT_EQ(follower.position(), drained.log_end());
}

TEST_F(LogFollowerTest, ALogThatIsGoneIsPassed) {
  Drainer drained = drainer();
  LogFollower follower(spool_, 0);
  drain(drained);
  drained.roll();
  drain(drained);
  ASSERT_EQ(::unlink(spool_.log_path(0).c_str()), 0);
  EXPECT_EQ(follow(follower, drained.log_end()), Counts{1});
}

TEST_F(LogFollowerTest, PackingWaitsForLogsThatWereNotRead) {
  for (int log = 0; log < 2; log++) {
    Drainer drained = Drainer::open(spool_, Clock::of(spool_.header()), pools_).value();
    drain(drained);
  }
  Packer packer = Packer::open(directory_.path(), Manifest{}, {}).value();
  const auto read_below = [&](std::uint64_t end) {
    return packer.pack_complete([end](std::uint64_t log) { return log < end; }).has_value();
  };
  ASSERT_TRUE(read_below(0));
  EXPECT_TRUE(path_exists(spool_.log_path(0)));
  ASSERT_TRUE(read_below(1));
  EXPECT_FALSE(path_exists(spool_.log_path(0)));
  EXPECT_TRUE(path_exists(spool_.log_path(1)));
}

}  // namespace
}  // namespace fathom::trace
