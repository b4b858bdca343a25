// SPDX-License-Identifier: MIT
#include "analysis/live/live_recording.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>

#include "analysis/live/being_made.h"
#include "analysis/live/latest_counters.h"
#include "trace/recording/packer.h"
#include "trace/testing/recordings.h"

namespace fathom::analysis {
namespace {

using trace::Packer;
using trace::testing::RecordWriter;
using trace::testing::SegmentSpec;
using trace::testing::SpoolBuilder;
using trace::testing::TempDir;

constexpr std::uint64_t kKey = 0x99;

class LiveRecordingTest : public ::testing::Test {
 protected:
  LiveRecordingTest()
      : recording_(LiveRecording::open(directory_.path(), {}).value()),
        packer_(Packer::open(directory_.path(), trace::Manifest{}, {}).value()) {}

  // So many regions of this process, in a run of its own.
  SegmentSpec regions(int count, std::uint32_t state) {
    RecordWriter w = next_run();
    for (int i = 0; i < count; i++) {
      const std::uint64_t from = at();
      w.region(0, from, from + 500, 2);
    }
    return segment(w, state);
  }
  // Values of a counter, likewise.
  SegmentSpec counters(std::initializer_list<std::int64_t> values, std::uint32_t state) {
    RecordWriter w = next_run();
    for (const std::int64_t value : values) w.counter(at(), 2, value);
    return segment(w, state);
  }
  // A counter of each of so many names, from `first` on.
  SegmentSpec names(std::uint64_t first, std::uint64_t count, std::uint32_t state) {
    RecordWriter w = next_run();
    for (std::uint64_t id = 2 * first; id < 2 * (first + count); id += 2) {
      w.string(100 + id, "name " + std::to_string(id)).site(101 + id, 100 + id, 0);
      w.counter(at(), 101 + id, 1);
    }
    return segment(w, state);
  }
  RecordWriter next_run() {
    const auto pid = static_cast<std::uint64_t>(::getpid());
    RecordWriter w;
    w.switch_to({kKey, pid, pid, 0, run_, 0, at()});
    if (run_++ > 0) return w;
    w.process(0, pid, 1, 0, at(), FATHOM_ATTACH_PRELOAD);
    w.string(1, "step").site(2, 1, 0);
    w.string(3, "exe").string(4, "/usr/bin/prog").meta(3, 4);
    return w;
  }
  static SegmentSpec segment(const RecordWriter& w, std::uint32_t state) {
    return {w.bytes(), state, static_cast<std::uint32_t>(::getpid()), kKey};
  }
  // ns after the one before.
  std::uint64_t at() { return builder_.at(1'000'000 + 1000 * ++moments_); }
  void add(const std::vector<SegmentSpec>& segments) {
    builder_.add_pool("1-a-" + std::to_string(pools_++), segments);
  }
  void drain() { ASSERT_TRUE(packer_.drain().has_value()); }
  void roll() {
    packer_.look([](trace::Drainer& drainer) { drainer.roll(); });
  }

  Activity look() {
    Result<Activity> activity = recording_.look();
    EXPECT_TRUE(activity.has_value());
    return std::move(activity).value();
  }
  static std::int64_t steps(const Activity& activity) {
    std::int64_t calls = 0;
    for (const CallNow& call : activity.calls) calls += call.name == "step" ? call.total_calls : 0;
    return calls;
  }

  TempDir directory_;
  SpoolBuilder builder_{directory_.path(), true};
  std::uint64_t run_ = 0;
  std::uint64_t moments_ = 0;
  int pools_ = 0;
  LiveRecording recording_;
  Packer packer_;
};

TEST_F(LiveRecordingTest, EachCallCountsOnceOnItsWayThroughTheRecording) {
  add({regions(3, FATHOM_SEGMENT_OWNED)});
  EXPECT_EQ(steps(look()), 3) << "in a segment that is written";
  add({regions(4, FATHOM_SEGMENT_FULL)});
  EXPECT_EQ(steps(look()), 7) << "in one that waits to be drained";
  drain();
  EXPECT_EQ(steps(look()), 7) << "in a log";
  roll();
  ASSERT_TRUE(packer_.pack_complete().has_value());
  EXPECT_EQ(steps(look()), 7) << "packed, and read as a log before";
  add({regions(5, FATHOM_SEGMENT_FULL)});
  drain();
  roll();
  ASSERT_TRUE(packer_.pack_complete().has_value());
  EXPECT_EQ(steps(look()), 12) << "packed between two looks";
  EXPECT_EQ(steps(look()), 12);
}

TEST_F(LiveRecordingTest, WhoComesLateSeesWhatWasPackedBefore) {
  for (int i = 0; i < 3; i++) {
    add({regions(2, FATHOM_SEGMENT_FULL)});
    drain();
    roll();
  }
  ASSERT_TRUE(packer_.pack_complete().has_value());
  add({regions(1, FATHOM_SEGMENT_FULL)});
  drain();
  add({regions(1, FATHOM_SEGMENT_OWNED)});
  LiveRecording late = LiveRecording::open(directory_.path(), {}).value();
  EXPECT_EQ(steps(late.look().value()), 8);
}

TEST_F(LiveRecordingTest, TheLastValueOfACounterIsTheSameOnItsWayThroughTheRecording) {
  const auto value = [](const Activity& activity) {
    EXPECT_EQ(activity.app_counters.size(), 1U);
    EXPECT_EQ(activity.app_counters_left_out, 0U);
    if (activity.app_counters.size() != 1) return -1.0;
    EXPECT_EQ(activity.app_counters[0].name, "step");
    return activity.app_counters[0].value;
  };
  EXPECT_TRUE(look().app_counters.empty());
  add({counters({5, 6}, FATHOM_SEGMENT_OWNED)});
  EXPECT_EQ(value(look()), 6) << "in a segment that is written";
  add({counters({7}, FATHOM_SEGMENT_FULL)});
  drain();
  EXPECT_EQ(value(look()), 7) << "in a log";
  roll();
  ASSERT_TRUE(packer_.pack_complete().has_value());
  EXPECT_EQ(value(look()), 7) << "packed, and read as a log before";
  add({counters({9, 8}, FATHOM_SEGMENT_FULL)});
  drain();
  roll();
  ASSERT_TRUE(packer_.pack_complete().has_value());
  EXPECT_EQ(value(look()), 8) << "packed between two looks";
  LiveRecording late = LiveRecording::open(directory_.path(), {}).value();
  EXPECT_EQ(value(late.look().value()), 8) << "for who comes late";
}

TEST_F(LiveRecordingTest, ProgramsThatInventNamesFillNothing) {
  constexpr std::uint64_t kPart = 60, kParts = 40;  // a segment has 4 KiB here
  for (std::uint64_t part = 0; part < kParts; part++)
    add({names(part * kPart, kPart, FATHOM_SEGMENT_FULL)});
  for (const bool packed : {false, true}) {
    if (packed) {
      drain();
      roll();
      ASSERT_TRUE(packer_.pack_complete().has_value());
    }
    LiveRecording recording = LiveRecording::open(directory_.path(), {}).value();
    const Activity activity = recording.look().value();
    EXPECT_EQ(activity.app_counters.size(), LatestCounters::kMostNames) << packed;
    EXPECT_EQ(activity.app_counters_left_out, kPart * kParts - LatestCounters::kMostNames)
        << packed;
  }
}

TEST_F(LiveRecordingTest, RatesComeWithTheSecondLook) {
  add({regions(3, FATHOM_SEGMENT_OWNED)});
  const Activity first = look();
  EXPECT_EQ(first.events, 0);
  EXPECT_EQ(first.total_events, 3);
  add({regions(4, FATHOM_SEGMENT_FULL)});
  ::usleep(2000);
  const Activity second = look();
  EXPECT_GT(second.events, 0);
  EXPECT_EQ(second.total_events, 7);
  ::usleep(2000);
  EXPECT_EQ(look().events, 0) << "nothing came";
}

TEST_F(LiveRecordingTest, TellsWhoRunsAndWhatCallItIsIn) {
  SegmentSpec segment = regions(1, FATHOM_SEGMENT_OWNED);
  segment.in_call = trace::testing::kRead;
  segment.in_call_since = builder_.at(1'000'000);
  add({segment});
  const Activity activity = look();
  EXPECT_EQ(activity.writers, "is being recorded");
  ASSERT_EQ(activity.processes.size(), 1U);
  EXPECT_EQ(activity.processes[0].pid, ::getpid());
  EXPECT_EQ(activity.processes[0].program, "prog");
  ASSERT_EQ(activity.threads.size(), 1U);
  EXPECT_EQ(activity.threads[0].call, "read");
  EXPECT_GT(activity.threads[0].since_ns, 1'000'000'000);
}

TEST_F(LiveRecordingTest, WhatTheRecorderSampledIsToldInWords) {
  trace::Strings strings;
  trace::HostRows rows;
  const auto frame = [&](std::int64_t stack, std::int32_t depth, const char* function,
                         const char* module) {
    rows.frames.rows.push_back(
        {stack, depth, {.function = strings.code(function), .module = strings.code(module)}});
  };
  frame(1, 0, "main", "/bin/prog");
  frame(1, 1, "sort", "/bin/prog");
  frame(2, 0, "main", "/bin/prog");
  frame(2, 1, "__poll", "/lib/libc.so.6");
  const std::uint32_t on = strings.code(trace::kOnCpu), off = strings.code(trace::kOffCpu);
  rows.samples.rows = {
      {.ts = 5000, .pid = 7, .tid = 7, .event = on, .weight = 4000, .stack = 1},
      {.ts = 5000, .pid = 7, .tid = 7, .event = off, .weight = 9000, .stack = 2, .ready = 1000}};
  rows.counters.rows = {{.ts = 14000,
                         .pid = 7,
                         .tid = 7,
                         .layer = strings.code("resource"),
                         .name = strings.code("rss"),
                         .value = 12345},
                        {.ts = 14000,
                         .layer = strings.code("resource"),
                         .name = strings.code("load"),
                         .unit = strings.code("tasks"),
                         .value = 0.5}};
  ASSERT_TRUE(packer_.append(rows, strings).has_value());
  for (const bool packed : {false, true}) {
    if (packed) {
      roll();
      ASSERT_TRUE(packer_.pack_complete().has_value());
    }
    LiveRecording recording = LiveRecording::open(directory_.path(), {}).value();
    const Activity activity = recording.look().value();
    EXPECT_TRUE(activity.sampled);
    ASSERT_EQ(activity.counters.size(), 1U) << packed;
    EXPECT_EQ(activity.counters[0].name, "load");
    EXPECT_EQ(activity.counters[0].unit, "tasks");
    EXPECT_EQ(activity.counters[0].value, 0.5);
    ASSERT_EQ(activity.functions.size(), 1U) << packed;
    EXPECT_EQ(activity.functions[0].what, "sort");
    EXPECT_EQ(activity.functions[0].total_ns, 4000);
    std::map<std::string, std::int64_t> waits;
    for (const TimeNow& wait : activity.waits)
      waits[std::string(wait.cause) + ": " + std::string(wait.what)] = wait.total_ns;
    EXPECT_EQ(waits, (std::map<std::string, std::int64_t>{{"poll: poll in main", 8000},
                                                          {"ready: no CPU was free", 1000}}));
  }
}

TEST_F(LiveRecordingTest, LookingWritesNothing) {
  add({regions(3, FATHOM_SEGMENT_FULL), regions(2, FATHOM_SEGMENT_OWNED)});
  drain();
  const auto contents = [this] {
    std::map<std::string, std::string> files;
    for (const std::string& folder : {directory_.path(), builder_.directory()}) {
      const std::vector<std::string> names = list_dir(folder).value();
      for (const std::string& name : names) {
        const std::string path = join_path(folder, name);
        files[path] = is_directory(path) ? "" : read_file(path).value();
      }
    }
    return files;
  };
  const auto before = contents();
  (void)look();
  (void)look();
  EXPECT_EQ(contents(), before);
}

TEST_F(LiveRecordingTest, TheEndIsNoticed) {
  add({regions(3, FATHOM_SEGMENT_FULL)});
  EXPECT_EQ(look().writers, "is being recorded");
  EXPECT_EQ(recordings_being_made(directory_.path()), std::vector<std::string>{directory_.path()});
  { const Packer gone = std::move(packer_); }
  EXPECT_EQ(look().writers, "");
  EXPECT_TRUE(recordings_being_made(directory_.path()).empty());
  ASSERT_TRUE(remove_tree(builder_.directory()).has_value());
  EXPECT_EQ(look().writers, "") << "and when the spool is gone";
}

TEST(BeingMade, LooksIntoTheFoldersOfADirectory) {
  const TempDir directory;
  const std::string old = join_path(directory.path(), "old.fathom");
  const std::string fresh = join_path(directory.path(), "new.fathom");
  const SpoolBuilder first(old, true, 20'000'000'000), second(fresh, true);
  EXPECT_TRUE(recordings_being_made(directory.path()).empty()) << "nobody records there";
  const Packer one = Packer::open(old, trace::Manifest{}, {}).value();
  const Packer two = Packer::open(fresh, trace::Manifest{}, {}).value();
  EXPECT_EQ(recordings_being_made(directory.path()), (std::vector<std::string>{fresh, old}));
  EXPECT_TRUE(recordings_being_made("/nonexistent").empty());
}

}  // namespace
}  // namespace fathom::analysis
