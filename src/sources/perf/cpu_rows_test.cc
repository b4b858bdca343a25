// SPDX-License-Identifier: MIT
#include "sources/perf/cpu_rows.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <new>
#include <string>
#include <vector>

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
                               .sees_leaving = true,
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

TEST_F(CpuRowsTest, WaitsWithoutAStackAreCountedWhereStacksCome) {
  fork(10, 20, 20, 1);
  change(20, 20, 5, false);
  change(20, 20, 9, true);
  const std::vector<trace::Loss> losses = drained().losses;
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_EQ(losses[0].reason, "stacks of waits that were not taken");
  EXPECT_EQ(losses[0].count, 1);
}

TEST_F(CpuRowsTest, WhatIsLostIsCounted) {
  take(id(10, 10, 1), perf::Lost{7, false});
  take(id(10, 10, 1), perf::Throttle{});
  rows_.damaged_records(2);
  std::int64_t lost = 0;
  for (const trace::Loss& loss : drained().losses) {
    EXPECT_EQ(loss.layer, "cpu");
    lost += loss.count;
  }
  EXPECT_EQ(lost, 10);
  EXPECT_TRUE(drained().losses.empty());
}

std::map<std::string, std::int64_t> losses_of(const trace::HostRows& rows) {
  std::map<std::string, std::int64_t> losses;
  for (const trace::Loss& loss : rows.losses) losses[loss.reason] += loss.count;
  return losses;
}

// Names of the kernel are where memory first runs out here.
TEST_F(CpuRowsTest, WithoutMemoryTheRestOfTheRunIsMissingAndSaidToBe) {
  CpuRows rows(
      CpuRowsOptions{.start_monotonic_ns = kStart,
                     .event = "cpu-clock",
                     .is_clock = true,
                     .rung = "perf",
                     .no_command = true,
                     .kernel = [](std::uint64_t) -> std::string { throw std::bad_alloc(); }});
  perf::Record record;
  record.id = id(10, 10, 5);
  record.body = perf::Comm{10, 10, true, "sh"};
  rows.take(record, SampleOf::kEvent);
  const std::uint64_t chain[] = {PERF_CONTEXT_KERNEL, 0xffff800000000010};
  perf::Sample sample;
  sample.callchain = perf::Words(std::as_bytes(std::span(chain)));
  record.id = id(10, 10, 30);
  record.body = sample;
  EXPECT_THROW(rows.take(record, SampleOf::kEvent), std::bad_alloc);
  rows.gave_up();
  rows.stop(kStart + 90);
  trace::HostRows told;
  rows.drain(strings_, told);
  EXPECT_EQ(losses_of(told), (std::map<std::string, std::int64_t>{
                                 {"samples of the rest of the run: no memory for them", 1}}));
  ASSERT_FALSE(told.lives.threads.empty()) << "what was known is told";
  EXPECT_EQ(told.lives.threads.back().start, 5);
  ASSERT_EQ(told.samples.rows.size(), 1U);
  EXPECT_EQ(told.samples.rows[0].weight, 85);
}

TEST_F(CpuRowsTest, StacksBeyondTheLimitAreShortAndCounted) {
  CpuRows rows(CpuRowsOptions{.start_monotonic_ns = kStart,
                              .event = "cpu-clock",
                              .is_clock = true,
                              .rung = "perf",
                              .no_command = true,
                              .kernel = [](std::uint64_t) { return "f"; },
                              .limits = {.stacks = 1, .leaves = 1, .texts = 1000}});
  perf::Record record;
  for (std::size_t depth = 1; depth < 4; ++depth) {
    std::vector<std::uint64_t> chain(depth + 1, 0xffff800000000010);
    chain[0] = PERF_CONTEXT_KERNEL;
    perf::Sample sample;
    sample.callchain = perf::Words(std::as_bytes(std::span(chain)));
    record.id = id(10, 10, depth);
    record.body = sample;
    rows.take(record, SampleOf::kEvent);
  }
  trace::HostRows told;
  rows.drain(strings_, told);
  EXPECT_EQ(told.frames.rows.size(), 1U);
  EXPECT_EQ(losses_of(told),
            (std::map<std::string, std::int64_t>{
                {"stacks without callers: there are too many different ones", 2}}));
}

FoundProcess found_process(std::int32_t pid, std::initializer_list<std::int32_t> threads) {
  FoundProcess process;
  process.pid = pid;
  process.ppid = 1;
  process.name = "server";
  for (const std::int32_t tid : threads)
    process.threads.push_back({.tid = tid,
                               .name = "t" + std::to_string(tid),
                               .asleep = true,
                               .waits_in = {"ep_poll", "do_epoll_wait"}});
  process.code.push_back({{0x1000, 0x1000, 0, 1, "/bin/server"}, "id"});
  return process;
}

std::vector<std::string> ended_in(const trace::HostRows& rows) {
  std::vector<std::string> names;
  for (const trace::ProcessRow& row : rows.lives.processes) {
    if (row.end != kNull) names.push_back(row.name + " " + std::to_string(row.end));
  }
  return names;
}

TEST_F(CpuRowsTest, AProcessThatRanBefore) {
  const FoundProcess process = found_process(20, {20, 21});
  rows_.found(process, kStart + 10, kStart + 12);
  for (const FoundThread& thread : process.threads) rows_.asleep(20, thread);
  change(20, 21, 50, false);
  end(20, 21, 70);
  EXPECT_TRUE(rows_.knows(20));
  end(20, 20, 90);
  EXPECT_FALSE(rows_.anybody_lives());
  const trace::HostRows rows = drained();
  EXPECT_EQ(ended_in(rows), std::vector<std::string>{"server 90"});
  EXPECT_EQ(rows.lives.processes.front().start, 10);
  std::int64_t asleep = 0;
  for (const trace::SampleRow& row : rows.samples.rows)
    asleep += strings_.view(row.event) == "off-cpu" ? row.weight : 0;
  EXPECT_EQ(asleep, 40 + 80);
  ASSERT_EQ(rows.frames.rows.size(), 2U);
  EXPECT_EQ(strings_.view(rows.frames.rows[1].frame.function), "ep_poll") << "innermost last";
}

TEST_F(CpuRowsTest, AThreadThatIsFoundIsNotToldOfAgain) {
  rows_.found(found_process(20, {20, 21}), kStart + 10, kStart + 30);
  fork(20, 20, 21, 25);  // before /proc was read
  fork(20, 20, 22, 40);
  end(20, 21, 50);
  end(20, 22, 50);
  EXPECT_TRUE(rows_.knows(20));
  end(20, 20, 60);
  EXPECT_FALSE(rows_.knows(20));
}

TEST_F(CpuRowsTest, OneThatLeavesIsNotRecordedAnyMore) {
  rows_.found(found_process(20, {20}), kStart + 10, kStart + 10);
  fork(20, 30, 30, 20);
  rows_.leave(20, kStart + 40);
  EXPECT_TRUE(rows_.has_descendants(20));
  fork(20, 31, 31, 50);
  change(20, 20, 55, true);
  EXPECT_FALSE(rows_.knows(20));
  EXPECT_FALSE(rows_.knows(31)) << "it made that one later";
  EXPECT_TRUE(rows_.knows(30));
  end(30, 30, 60);
  EXPECT_FALSE(rows_.has_descendants(20));
  EXPECT_FALSE(rows_.anybody_lives());
  const trace::HostRows rows = drained();
  EXPECT_EQ(ended_in(rows), (std::vector<std::string>{"server 40", "t20 60"}));
  for (const trace::ThreadRow& row : rows.lives.threads) EXPECT_LE(row.end, 60);
  rows_.found(found_process(20, {20}), kStart + 70, kStart + 70);
  EXPECT_TRUE(rows_.knows(20)) << "it comes again";
}

TEST_F(CpuRowsTest, OfTheWholeMachineOnlyThoseThatAreChosen) {
  rows_.choose([](std::int32_t pid) { return pid == 50; });
  rows_.found(found_process(20, {20}), kStart + 10, kStart + 10);
  exec(40, 20, "stranger");
  exec(50, 20, "chosen");
  fork(20, 60, 60, 30);
  change(70, 70, 30, true);
  EXPECT_TRUE(rows_.knows(50));
  EXPECT_TRUE(rows_.knows(60)) << "children of those that are recorded are";
  EXPECT_FALSE(rows_.knows(40));
  rows_.stop(kStart + 99);
  for (const trace::ThreadRow& row : drained().lives.threads) {
    EXPECT_NE(row.pid, 40);
    EXPECT_NE(row.pid, 70);
  }
}

TEST_F(CpuRowsTest, OnesThatHaveEndedWithoutAWord) {
  constexpr std::int32_t kNobody = 0x7ffffff0;
  rows_.found(found_process(kNobody, {kNobody}), kStart + 10, kStart + 10);
  rows_.found(found_process(::getpid(), {::getpid()}), kStart + 10, kStart + 10);
  EXPECT_EQ(rows_.gone(), std::vector{kNobody});
  rows_.forget(rows_.gone(), kStart + 20);
  EXPECT_FALSE(rows_.knows(kNobody));
  EXPECT_TRUE(rows_.knows(::getpid()));
}

TEST_F(CpuRowsTest, OneThatIsGoneEndsWhenTheKernelSaidSo) {
  constexpr std::int32_t kNobody = 0x7ffffff0;
  rows_.found(found_process(kNobody, {kNobody}), kStart + 10, kStart + 10);
  const std::vector<std::int32_t> gone = rows_.gone();
  end(kNobody, kNobody, 15);
  rows_.forget(gone, kStart + 20);
  const std::vector<trace::ThreadRow> threads = drained().lives.threads;
  ASSERT_EQ(threads.size(), 2U) << "it began, it ended";
  EXPECT_EQ(threads[1].end, 15);
}

TEST_F(CpuRowsTest, AnotherRecordingKnowsWhoLives) {
  const FoundProcess process = found_process(20, {20});
  rows_.found(process, kStart + 10, kStart + 10);
  rows_.asleep(20, process.threads[0]);
  trace::HostRows last;
  rows_.cut(kStart + 100, strings_, last);
  ASSERT_EQ(last.samples.rows.size(), 1U);
  EXPECT_EQ(last.samples.rows[0].weight, 90);
  rows_.begin_anew(kStart + 80, kStart + 100);
  rows_.asleep(20, process.threads[0]);
  end(20, 20, 130);
  const trace::HostRows rows = drained();
  EXPECT_EQ(rows.lives.processes.front().start, 20);
  ASSERT_EQ(rows.samples.rows.size(), 1U);
  EXPECT_EQ(rows.samples.rows[0].ts, 20);
  EXPECT_EQ(rows.samples.rows[0].weight, 30);
  EXPECT_EQ(rows.frames.rows.size(), 2U) << "its stacks are not those of the other";
  ASSERT_EQ(rows_.followed().size(), 0U);
}

}  // namespace
}  // namespace fathom::sources
