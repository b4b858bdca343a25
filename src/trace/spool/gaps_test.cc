// SPDX-License-Identifier: MIT
// What happens to files of a spool while somebody drains it, and what is missing afterwards.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/recording/packer.h"
#include "trace/recording/parquet_tables.h"
#include "trace/recording/recording.h"
#include "trace/spool/in_use.h"
#include "trace/spool/journal.h"
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

const Loss* loss_of(const Manifest& manifest, std::string_view word) {
  for (const Loss& loss : manifest.losses) {
    if (loss.reason.find(word) != std::string::npos) return &loss;
  }
  return nullptr;
}

// Run `run` of a thread of a process that is dead: one instant.
SegmentSpec one_run(const SpoolBuilder& builder, std::uint64_t run) {
  RecordWriter w;
  w.switch_to({kKey, kDead, kDead, 0, run, 0, builder.at(1000 + run)});
  w.string(1, "tick").site(2, 1, 0).instant(0, builder.at(2000 + run), 2);
  return {w.bytes(), FATHOM_SEGMENT_FULL, kDead, kKey};
}

void count_runs(const SpoolBuilder& builder, std::uint64_t runs) {
  fathom_run_shared shared{};
  shared.runs = runs;
  builder.write_page(builder.header(), shared);
}

std::uint64_t size_of(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 ? static_cast<std::uint64_t>(facts.st_size) : 0;
}

TEST(RunSetTest, CountsEachRunOnce) {
  RunSet runs;
  EXPECT_EQ(runs.missing(), 0U);
  for (const std::uint64_t run : {0, 1, 3, 3, 2, 7, 1, 6}) runs.insert(run);
  EXPECT_EQ(runs.count(), 6U);
  EXPECT_EQ(runs.missing(), 2U);  // 4 and 5
  runs.insert(UINT64_MAX);
  EXPECT_EQ(runs.count(), 6U);
}

TEST(GapsTest, ARunThatNobodyReadIsALoss) {
  struct Case {
    const char* name;
    std::uint64_t counted;  // by the header; 0: it is of an older library
    std::vector<std::uint64_t> there;
    std::int64_t lost;
  };
  const Case cases[] = {{"all", 3, {0, 1, 2}, 0},
                        {"the last", 4, {0, 1, 2}, 1},
                        {"the first", 3, {1, 2}, 1},
                        {"without a count, in between", 0, {0, 3}, 2},
                        {"without a count, all", 0, {0, 1}, 0}};
  for (const Case& c : cases) {
    const TempDir directory;
    SpoolBuilder builder(directory.path());
    std::vector<SegmentSpec> segments;
    for (const std::uint64_t run : c.there) segments.push_back(one_run(builder, run));
    builder.add_pool("1-a-0", segments);
    count_runs(builder, c.counted);
    for (const bool packed : {false, true}) {
      if (packed) {
        ASSERT_TRUE(recover(directory.path()).has_value());
      }
      const Result<Recording> recording = Recording::open(directory.path());
      ASSERT_TRUE(recording.has_value());
      const Manifest& manifest = recording->parts.at(0).manifest;
      const Loss* loss = loss_of(manifest, "segments that vanished");
      EXPECT_EQ(loss == nullptr ? 0 : loss->count, c.lost) << c.name << packed;
      EXPECT_EQ(manifest.state, c.lost > 0 ? RunState::kPartial : RunState::kComplete) << c.name;
    }
  }
}

TEST(GapsTest, ALogThatIsGoneIsALossOfItsEvents) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  builder.add_pool("1-a-0", {one_run(builder, 0), one_run(builder, 1)});
  { ASSERT_EQ(Packer::open(directory.path(), Manifest{}, {})->drain()->chunks, 2U); }
  ASSERT_EQ(::unlink(join_path(builder.directory(), "drained-0.log").c_str()), 0);
  for (const bool packed : {false, true}) {
    if (packed) {
      ASSERT_TRUE(recover(directory.path()).has_value());
    }
    const Result<Recording> recording = Recording::open(directory.path());
    const Manifest& manifest = recording->parts.at(0).manifest;
    const Loss* loss = loss_of(manifest, "of a log that was removed");
    ASSERT_NE(loss, nullptr) << packed;
    EXPECT_EQ(loss->count, 2) << packed;
    EXPECT_EQ(manifest.state, RunState::kPartial) << packed;
  }
}

TEST(GapsTest, ALogThatIsCutMakesItPartial) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  builder.add_pool("1-a-0", {one_run(builder, 0), one_run(builder, 1)});
  Packer packer = Packer::open(directory.path(), Manifest{}, {}).value();
  ASSERT_EQ(packer.drain()->chunks, 2U);
  ASSERT_EQ(::truncate(join_path(builder.directory(), "drained-0.log").c_str(), 100), 0);
  ASSERT_TRUE(packer.finish().has_value());
  const Result<Recording> recording = Recording::open(directory.path());
  const Manifest& manifest = recording->parts.at(0).manifest;
  EXPECT_NE(loss_of(manifest, "damaged log"), nullptr);
  EXPECT_EQ(manifest.state, RunState::kPartial);
}

TEST(GapsTest, WhatIsOpenOutlivesItsFile) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  const std::string dead = builder.add_pool("1-a-0", {dead_segment(builder)});
  const std::string live = builder.add_pool("1-b-0", {live_segment(builder)});
  Packer packer = Packer::open(directory.path(), Manifest{}, {}).value();
  ASSERT_TRUE(packer.drain()->owners_alive);
  ASSERT_EQ(::unlink(live.c_str()), 0);
  for (const char* name : {"drained-0.log", "definitions.log", "run.header", "lock"})
    ASSERT_EQ(::unlink(join_path(builder.directory(), name).c_str()), 0) << name;
  ASSERT_TRUE(packer.drain()->owners_alive) << "the pool is gone, its owner is not";
  for (const char* name : {"definitions.log", "run.header", "lock"})
    EXPECT_TRUE(path_exists(join_path(builder.directory(), name))) << name;
  EXPECT_EQ(Packer::open(directory.path(), Manifest{}, {}).error().code, Code::kDenied);
  const Result<Totals> totals = packer.sum_up();
  ASSERT_TRUE(totals.has_value()) << totals.error().message;
  EXPECT_EQ(totals->waiting, 6U) << "of the log that is gone";
  EXPECT_TRUE(totals->manifest.losses.empty());
}

TEST(GapsTest, APoolThatIsCutIsMendedAndTold) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  const std::string path = builder.add_pool("1-b-0", {live_segment(builder), live_segment(builder)},
                                            static_cast<std::uint32_t>(::getpid()));
  const std::uint64_t size = size_of(path);
  Packer packer = Packer::open(directory.path(), Manifest{}, {}).value();
  ASSERT_TRUE(packer.drain().has_value());
  for (const off_t length : {off_t{0}, off_t{5000}}) {
    ASSERT_EQ(::truncate(path.c_str(), length), 0);
    const Result<DrainResult> pass = packer.drain();
    ASSERT_TRUE(pass.has_value());
    EXPECT_EQ(size_of(path), size) << "the program may touch every page";
    EXPECT_TRUE(Pool::open(path, false).has_value());
  }
  const Result<Totals> totals = packer.sum_up();
  const Loss* loss = loss_of(totals->manifest, "cut short");
  ASSERT_NE(loss, nullptr);
  EXPECT_EQ(loss->count, 2);
  EXPECT_EQ(totals->manifest.state, RunState::kPartial);
}

TEST(GapsTest, ThingsThatAreNoFilesAreNoPools) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  builder.add_pool("1-a-0", {dead_segment(builder)});
  const auto at = [&](const char* name) { return join_path(builder.directory(), name); };
  ASSERT_EQ(::mkfifo(at("2-a-0.pool").c_str(), 0600), 0);
  ASSERT_EQ(::mkdir(at("3-a-0.pool").c_str(), 0700), 0);
  ASSERT_EQ(::symlink("/dev/zero", at("4-a-0.pool").c_str()), 0);
  ASSERT_EQ(::mkfifo(at("drained-0.log").c_str(), 0600), 0);
  ASSERT_TRUE(recover(directory.path()).has_value());
  const Result<Recording> recording = Recording::open(directory.path());
  EXPECT_EQ(ask(*recording, kEventsTable, "count(*)"), "6");
}

// A run of another machine: nothing of it is taken while somebody may write, and nobody waits.
TEST(GapsTest, ProgramsOfAnotherMachine) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  const std::string path = builder.add_pool("1-a-0", {dead_segment(builder)});
  fathom_run_header header = builder.header();
  header.boot_id[0] = header.boot_id[0] == 'x' ? 'y' : 'x';
  builder.write_page(header);
  {
    Packer packer = Packer::open(directory.path(), Manifest{}, {}).value();
    EXPECT_TRUE(packer.drain()->owners_alive) << "its file has just changed";
    const timespec old[2] = {{1000, 0}, {1000, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), old, 0), 0);
  }
  EXPECT_EQ(writers_of(directory.path()), "is being written by running programs");
  {
    Packer packer = Packer::open(directory.path(), Manifest{}, {}).value();
    const Result<DrainResult> pass = packer.drain();
    EXPECT_FALSE(pass->owners_alive);
    EXPECT_TRUE(pass->owners_unknown);
    EXPECT_EQ(pass->chunks, 0U);
    EXPECT_TRUE(packer.finish()->owners_unknown);
    EXPECT_TRUE(path_exists(path));
  }
  PackerOptions options;
  options.ended = true;
  Packer packer = Packer::open(directory.path(), Manifest{}, options).value();
  EXPECT_FALSE(packer.finish()->owners_unknown);
  EXPECT_FALSE(path_exists(path));
}

}  // namespace
}  // namespace fathom::trace
