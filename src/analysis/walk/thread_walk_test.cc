// SPDX-License-Identifier: MIT
#include "analysis/walk/thread_walk.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "trace/recording/recording_writer.h"

namespace fathom::analysis {
namespace {

namespace fs = std::filesystem;

struct Event {
  int tid;
  int depth;
  std::int64_t ts, dur;
  const char* name;
};

// Writes down what it meets: "1: inner in outer".
class Diary : public WalkVisitor {
 public:
  void add_thread(const WalkThread& thread) override {
    threads_.push_back(thread.tid.value_or(-1));
  }
  void add_kind(const WalkKind& kind) override { names_.push_back(kind.name.value_or("")); }
  std::uint32_t enter(const WalkEvent& event, const WalkFrame* around) override {
    std::string line = std::to_string(threads_[event.thread]) + ": " + names_[event.kind];
    if (around != nullptr) line += " in " + names_[around->event.kind];
    lines.push_back(line);
    return 0;
  }
  std::vector<std::string> lines;

 private:
  std::vector<std::int64_t> threads_;
  std::vector<std::string> names_;
};

class ThreadWalkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "fathom_walk_" + std::to_string(getpid());
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  // Files are read in the order in which they are written.
  void write(const std::vector<Event>& rows) {
    trace::Manifest manifest;
    manifest.start_realtime_ns = 1;
    Result<trace::RecordingWriter> writer =
        trace::RecordingWriter::create(root_ + "/" + std::to_string(files_++), manifest);
    ASSERT_TRUE(writer) << writer.error().message;
    trace::EventBatch events;
    for (const Event& event : rows) {
      trace::EventRow row;
      row.pid = 1;
      row.tid = event.tid;
      row.depth = event.depth;
      row.ts = event.ts;
      row.dur = event.dur;
      row.layer = writer->strings().code("app");
      row.name = writer->strings().code(event.name);
      events.push(row);
    }
    ASSERT_TRUE(writer->append(events));
    ASSERT_TRUE(writer->finish());
  }

  std::vector<std::string> walk(const WalkOptions& options = {}) {
    Result<Store> store = Store::open(root_, {.resolver = {}, .threads = 2});
    EXPECT_TRUE(store) << store.error().message;
    Diary diary;
    const Status walked = walk_threads(*store, diary, options);
    EXPECT_TRUE(walked) << walked.error().message;
    return diary.lines;
  }

  std::string root_;
  int files_ = 0;
};

using Lines = std::vector<std::string>;

TEST_F(ThreadWalkTest, OuterEventsComeFirst) {
  write({{1, 1, 10, 10, "a"},
         {1, 0, 0, 100, "outer"},
         {1, 1, 90, 10, "b"},  // ends with the one around it
         {1, 0, 100, 5, "next"},
         {2, 0, 50, 10, "other"}});
  EXPECT_EQ(walk(), (Lines{"1: outer", "1: a in outer", "1: b in outer", "1: next", "2: other"}));
}

TEST_F(ThreadWalkTest, WhatLacksALevelLiesInTheNextOneOut) {
  write({{1, 0, 0, 100, "outer"}, {1, 2, 10, 10, "deep"}, {1, 3, 12, 2, "deeper"}});
  EXPECT_EQ(walk(), (Lines{"1: outer", "1: deep in outer", "1: deeper in deep"}));
}

TEST_F(ThreadWalkTest, WhatOutlastsItsPlaceLiesInNothing) {
  write({{1, 0, 0, 20, "outer"}, {1, 1, 5, 5, "inner"}, {1, 1, 15, 10, "longer"}});
  EXPECT_EQ(walk(), (Lines{"1: outer", "1: inner in outer", "1: longer"}));
}

// An event stands in the file that was written when it had ended.
TEST_F(ThreadWalkTest, AnEventMayStandBehindThoseInside) {
  write({{1, 1, 10, 10, "a"}, {1, 2, 12, 2, "in_a"}, {1, 1, 30, 10, "b"}, {2, 0, 0, 5, "other"}});
  write({{1, 0, 0, 100, "outer"}, {1, 1, 50, 10, "c"}, {1, 0, 200, 1, "last"}});
  const Lines wanted = {"1: outer",      "1: a in outer", "1: in_a in a", "1: b in outer",
                        "1: c in outer", "1: last",       "2: other"};
  Lines got = walk();
  std::ranges::stable_sort(got, {}, [](const std::string& line) { return line[0]; });
  EXPECT_EQ(got, wanted);
  got = walk({.most_late = 0});  // sorted by the database
  std::ranges::stable_sort(got, {}, [](const std::string& line) { return line[0]; });
  EXPECT_EQ(got, wanted);
}

}  // namespace
}  // namespace fathom::analysis
