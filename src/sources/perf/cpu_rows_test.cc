// SPDX-License-Identifier: MIT
#include "sources/perf/cpu_rows.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fathom::sources {
namespace {

using trace::kNull;

class CpuRowsTest : public ::testing::Test {
 protected:
  static perf::SampleId id(std::uint32_t pid, std::uint32_t tid, std::uint64_t time) {
    perf::SampleId made;
    made.pid = pid;
    made.tid = tid;
    made.time = kStart + time;
    return made;
  }
  template <class Body>
  void take(const perf::SampleId& id, const Body& body) {
    perf::Record record;
    record.id = id;
    record.body = body;
    rows_.take(record, SampleOf::kEvent);
  }
  void exec(std::uint32_t pid, std::uint64_t time, const char* name) {
    take(id(pid, pid, time), perf::Comm{pid, pid, true, name});
  }
  void fork(std::uint32_t parent, std::uint32_t pid, std::uint32_t tid, std::uint64_t time) {
    take(id(pid, tid, time), perf::Task{pid, parent, tid, parent, kStart + time, false});
  }
  void end(std::uint32_t pid, std::uint32_t tid, std::uint64_t time) {
    take(id(pid, tid, time), perf::Task{pid, 1, tid, 1, kStart + time, true});
  }
  void change(std::uint32_t pid, std::uint32_t tid, std::uint64_t time, bool out) {
    take(id(pid, tid, time), perf::Switch{.is_out = out});
  }
  // What there is, by the texts of strings_.
  trace::HostRows drained() {
    trace::HostRows rows;
    rows_.drain(strings_, rows);
    return rows;
  }

  static constexpr std::uint64_t kStart = 1'000'000;
  CpuRows rows_{CpuRowsOptions{.start_monotonic_ns = kStart,
                               .event = "cpu-clock",
                               .is_clock = true,
                               .rung = "perf",
                               .no_command = true,
                               .kernel = {}}};
  trace::Strings strings_;
};

TEST_F(CpuRowsTest, AProgramThatAnotherBecomesIsARowOfItsOwn) {
  exec(10, 5, "sh");
  exec(10, 40, "ls");
  end(10, 10, 90);
  const trace::HostRows rows = drained();
  const trace::ProcessRow& last = rows.lives.processes.back();
  EXPECT_EQ(last.name, "ls");
  EXPECT_EQ(last.start, 40);
  EXPECT_EQ(last.end, 90);
  EXPECT_EQ(last.rung, "perf");
  const auto before = std::ranges::find_if(rows.lives.processes, [](const trace::ProcessRow& row) {
    return row.name == "sh" && row.end != kNull;
  });
  ASSERT_NE(before, rows.lives.processes.end());
  EXPECT_EQ(before->end, 40);
  std::int64_t ran = 0;
  for (const trace::SampleRow& row : rows.samples.rows) ran += row.weight;
  EXPECT_EQ(ran, 85) << "on a CPU all the time";
}

TEST_F(CpuRowsTest, AProcessEndsWithTheLastOfItsThreads) {
  exec(10, 0, "sh");
  fork(10, 10, 11, 20);
  change(10, 11, 25, false);
  end(10, 10, 50);
  EXPECT_TRUE(rows_.anybody_lives());
  end(10, 11, 80);
  EXPECT_FALSE(rows_.anybody_lives());
  const trace::HostRows rows = drained();
  EXPECT_EQ(rows.lives.processes.back().end, 80);
  const trace::ThreadRow& thread = rows.lives.threads.back();
  EXPECT_EQ(thread.tid, 11);
  EXPECT_EQ(thread.start, 20);
  EXPECT_EQ(thread.end, 80);
  EXPECT_EQ(thread.ready, 5);
  EXPECT_EQ(thread.name, "sh") << "its maker's, until it takes another";
}

TEST_F(CpuRowsTest, AChildKnowsItsParent) {
  exec(10, 0, "sh");
  fork(10, 20, 20, 7);
  const trace::HostRows rows = drained();
  EXPECT_EQ(rows.lives.processes.back().pid, 20);
  EXPECT_EQ(rows.lives.processes.back().ppid, 10);
  EXPECT_EQ(rows.lives.processes.back().start, 7);
}

TEST_F(CpuRowsTest, AStackIsPlacesInFiles) {
  exec(10, 0, "prog");
  perf::Mapping mapping;
  mapping.pid = mapping.tid = 10;
  mapping.address = 0x1000;
  mapping.length = 0x1000;
  mapping.offset = 0x200;
  const std::byte build_id[] = {std::byte{0xab}, std::byte{0x01}};
  mapping.build_id = build_id;
  mapping.file = "/bin/prog";
  take(id(10, 10, 1), mapping);
  const std::uint64_t chain[] = {
      PERF_CONTEXT_KERNEL, 0xffff800000000010, PERF_CONTEXT_USER, 0x1010, 0x1101, 0x9999};
  perf::Sample sample;
  sample.callchain = perf::Words(std::as_bytes(std::span(chain)));
  take(id(10, 10, 30), sample);
  end(10, 10, 40);
  const trace::HostRows rows = drained();
  ASSERT_EQ(rows.frames.rows.size(), 3U) << "what is no code called nobody";
  const auto text = [&](std::uint32_t code) { return std::string(strings_.view(code)); };
  const trace::Frame& caller = rows.frames.rows[0].frame;
  EXPECT_EQ(text(caller.module), "/bin/prog");
  EXPECT_EQ(caller.offset, 0x300) << "a byte inside of the call";
  EXPECT_EQ(text(caller.build_id), "ab01");
  EXPECT_EQ(rows.frames.rows[1].frame.offset, 0x210);
  EXPECT_EQ(text(rows.frames.rows[2].frame.module), "[kernel]");
  ASSERT_EQ(rows.samples.rows.size(), 1U);
  EXPECT_EQ(rows.samples.rows[0].stack, rows.frames.rows[0].stack);
  EXPECT_EQ(rows.samples.rows[0].weight, 40);
  EXPECT_TRUE(drained().frames.rows.empty()) << "a stack is told once";
}

TEST_F(CpuRowsTest, WhatIsLostIsCounted) {
  take(id(10, 10, 1), perf::Lost{7, false});
  take(id(10, 10, 1), perf::Throttle{});
  rows_.missed_stacks(3);
  rows_.damaged_records(2);
  std::int64_t lost = 0;
  for (const trace::Loss& loss : drained().losses) {
    EXPECT_EQ(loss.layer, "cpu");
    lost += loss.count;
  }
  EXPECT_EQ(lost, 13);
  EXPECT_TRUE(drained().losses.empty());
}

}  // namespace
}  // namespace fathom::sources
