// SPDX-License-Identifier: MIT
// What a reader does with recordings that are not what they should be, or change while it reads.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "trace/recording/packer.h"
#include "trace/recording/parquet_tables.h"
#include "trace/recording/tail.h"
#include "trace/recording/trust.h"
#include "trace/testing/recordings.h"

namespace fathom::trace {
namespace {

using testing::ask;
using testing::dead_segment;
using testing::kDead;
using testing::SegmentSpec;
using testing::SpoolBuilder;
using testing::TempDir;

std::vector<std::string> names_below(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory))
    names.push_back(entry.path().string());
  std::sort(names.begin(), names.end());
  return names;
}

// Events in files and in memory.
std::int64_t events_of(const Recording& recording) {
  std::int64_t events = 0;
  for (const Part& part : recording.parts) {
    if (part.tail) events += static_cast<std::int64_t>(part.tail->events.rows());
  }
  const std::string packed = ask(recording, kEventsTable, "count(*)");
  return events + (packed == "no files" ? 0 : std::stoll(packed));
}

TEST(PartReaderTest, NothingIsMade) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  builder.add_pool("1-a-0", {dead_segment(builder)});
  const std::vector<std::string> before = names_below(directory.path());
  ASSERT_TRUE(Recording::open(directory.path()).has_value());
  EXPECT_EQ(names_below(directory.path()), before);
}

TEST(PartReaderTest, WhatIsNoFileIsDamage) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  const std::string pool = builder.add_pool("1-a-0", {dead_segment(builder)});
  const std::string kept = pool + ".kept";
  ASSERT_EQ(::rename(pool.c_str(), kept.c_str()), 0);
  const auto expect_partial = [&](const char* kind) {
    const Result<Recording> recording = Recording::open(directory.path());
    ASSERT_TRUE(recording.has_value()) << recording.error().message;
    const Part& part = recording->parts[0];
    EXPECT_EQ(part.manifest.state, RunState::kPartial) << kind;
    ASSERT_FALSE(part.damaged.empty());
    EXPECT_NE(part.damaged[0].reason.find(kind), std::string::npos) << part.damaged[0].reason;
    ASSERT_EQ(std::filesystem::remove_all(pool), 1U);
  };
  ASSERT_EQ(::symlink(kept.c_str(), pool.c_str()), 0);
  expect_partial("a link");
  ASSERT_EQ(::mkfifo(pool.c_str(), 0600), 0);
  expect_partial("a FIFO");
  ASSERT_EQ(::mkdir(pool.c_str(), 0700), 0);
  expect_partial("a directory");
}

TEST(PartReaderTest, ALinkedSpoolIsDamage) {
  const TempDir directory;
  const TempDir elsewhere;
  SpoolBuilder builder(elsewhere.path());
  builder.add_pool("1-a-0", {dead_segment(builder)});
  Manifest manifest;
  manifest.state = RunState::kComplete;
  ASSERT_TRUE(write_manifest(directory.path(), manifest).has_value());
  ASSERT_EQ(::symlink(builder.directory().c_str(), (directory.path() + "/spool").c_str()), 0);
  const Result<Recording> recording = Recording::open(directory.path());
  ASSERT_TRUE(recording.has_value()) << recording.error().message;
  EXPECT_EQ(recording->parts[0].manifest.state, RunState::kPartial);
  EXPECT_EQ(recording->parts[0].tail, nullptr);
  EXPECT_FALSE(Packer::open(directory.path(), manifest, {}).has_value());
}

TEST(PartReaderTest, LinksToRecordingsAreNotFollowed) {
  const TempDir directory;
  const TempDir elsewhere;
  const SpoolBuilder builder(elsewhere.path());
  const SpoolBuilder inside(directory.path() + "/a");
  ASSERT_EQ(::symlink(elsewhere.path().c_str(), (directory.path() + "/b").c_str()), 0);
  const std::vector<std::string> found = find_recordings(directory.path());
  EXPECT_EQ(found, std::vector<std::string>{directory.path() + "/a"});
}

TEST(PartReaderTest, AFileThatIsMissingIsMissed) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  builder.add_pool("1-a-0", {dead_segment(builder)});
  ASSERT_TRUE(recover(directory.path()).has_value());
  EXPECT_EQ(Recording::open(directory.path())->parts[0].manifest.state, RunState::kComplete);
  for (const char* name : {"events-0.parquet", "processes.parquet", "counters-0.parquet"}) {
    const std::string path = join_path(directory.path(), name);
    ASSERT_EQ(::rename(path.c_str(), (path + ".kept").c_str()), 0) << name;
    const Result<Recording> recording = Recording::open(directory.path());
    ASSERT_TRUE(recording.has_value());
    EXPECT_EQ(recording->parts[0].manifest.state, RunState::kPartial) << name;
    ASSERT_EQ(::rename((path + ".kept").c_str(), path.c_str()), 0);
  }
}

TEST(PartReaderTest, CutPoolsAreNotComplete) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  const std::string pool = builder.add_pool("1-a-0", {dead_segment(builder)});
  EXPECT_EQ(Recording::open(directory.path())->parts[0].manifest.state, RunState::kComplete);
  ASSERT_EQ(::truncate(pool.c_str(), 0), 0);
  EXPECT_EQ(Recording::open(directory.path())->parts[0].manifest.state, RunState::kPartial);
  ASSERT_TRUE(recover(directory.path()).has_value());
  EXPECT_EQ(Recording::open(directory.path())->parts[0].manifest.state, RunState::kPartial);
}

TEST(PartReaderTest, EventsThatDoNotFitGoToFilesWithoutAName) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  for (int pool = 0; pool < 3; pool++)
    builder.add_pool(std::to_string(pool) + "-a-0", {dead_segment(builder)});
  Spool spool = Spool::open(builder.directory()).value();
  TailFacts facts;
  TailOptions options;
  options.undisturbed = true;
  options.most_rows = 1;
  const auto tail = read_tail(spool, unsupervised_manifest(spool), options, facts);
  ASSERT_TRUE(tail.has_value()) << tail.error().message;
  ASSERT_FALSE(facts.packed.empty());
  EXPECT_TRUE((*tail)->events.rows() == 0);
  Recording recording;
  recording.parts.emplace_back();
  recording.parts[0].files[kEventsTable] = facts.packed[kEventsTable];
  EXPECT_EQ(ask(recording, kEventsTable, "count(*)"), "18");
  EXPECT_EQ(ask(recording, kEventsTable, "string_agg(DISTINCT file, ',')"), "/data/a.bin");
}

// Every answer is right, whatever a packer does meanwhile.
TEST(PartReaderTest, APackerBesideAReader) {
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  constexpr int kPools = 40;
  for (int pool = 0; pool < kPools; pool++) {
    SegmentSpec segment = dead_segment(builder);
    builder.add_pool(std::to_string(pool) + "-a-0", {segment});
  }
  std::atomic<bool> done = false;
  std::thread packing([&] {
    auto packer = Packer::open(directory.path(),
                               unsupervised_manifest(Spool::open(builder.directory()).value()), {});
    while (packer && packer->drain()->chunks > 0) (void)packer->pack_complete();
    if (packer) (void)packer->finish();
    done = true;
  });
  int answers = 0;
  for (bool last = false; !last; answers++) {
    last = done;
    const Result<Recording> recording = Recording::open(directory.path());
    ASSERT_TRUE(recording.has_value()) << recording.error().message;
    EXPECT_EQ(events_of(*recording), kPools * 6) << answers;
    EXPECT_TRUE(recording->parts[0].damaged.empty());
  }
  packing.join();
  EXPECT_GE(answers, 2);
}

TEST(PartReaderTest, OnlyOwnersPack) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const TempDir directory;
  SpoolBuilder builder(directory.path());
  builder.add_pool("1-a-0", {dead_segment(builder)});
  const Spool spool = Spool::open(builder.directory()).value();
  EXPECT_TRUE(is_ours(Directory::open(directory.path()).value(), spool));
  ASSERT_EQ(::chown(builder.directory().c_str(), 65534, 65534), 0);
  EXPECT_FALSE(is_ours(Directory::open(directory.path()).value(), spool));
  EXPECT_EQ(recover(directory.path()).error().code, Code::kDenied);
  EXPECT_EQ(Recording::open(directory.path())->parts[0].tail->events.rows(), 6U);
}

TEST(PartReaderTest, ModulesThatChangedAreNotAsked) {
  const TempDir directory;
  const TempDir modules;
  const std::string module = join_path(modules.path(), "module");
  ASSERT_TRUE(write_file_atomic(module, "x").has_value());
  ASSERT_EQ(::mkfifo((module + ".fifo").c_str(), 0600), 0);
  SpoolBuilder builder(directory.path());
  builder.add_pool("1-a-0", {dead_segment(builder)});
  NameResolver bold;
  bold.function = [](const std::string&, std::uint64_t) { return std::string("named"); };
  bold.frames = [](const CodePlace&) {
    return NamedPlace{.readable = true, .frames = {{.function = "named", .file = ""}}};
  };
  const NameResolver resolver =
      for_unchanged_modules(bold, Spool::open(builder.directory()).value());
  EXPECT_EQ(resolver.function(module, 1), "named");
  EXPECT_EQ(resolver.frames({module, "", 1}).frames.size(), 1U);
  EXPECT_EQ(resolver.function(module + ".fifo", 1), "");
  ::usleep(20000);
  ASSERT_TRUE(write_file_atomic(module, "y").has_value());
  EXPECT_EQ(resolver.function(module, 1), "");
  EXPECT_TRUE(resolver.frames({module, "", 1}).frames.empty());
}

}  // namespace
}  // namespace fathom::trace
