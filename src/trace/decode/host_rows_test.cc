// SPDX-License-Identifier: MIT
#include "trace/decode/host_rows.h"

#include <gtest/gtest.h>

#include "trace/rows/byte_writer.h"

namespace fathom::trace {
namespace {

std::span<const std::uint8_t> as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

IntervalRow interval(Strings& strings, std::int64_t calls) {
  IntervalRow row;
  row.ts = 1'000'000'000;
  row.width = 1'000'000'000;
  row.pid = 7;
  row.tid = 8;
  row.layer = strings.code("syscall");
  row.name = strings.code("read");
  row.category = strings.code("read");
  row.file = strings.code("/a");
  row.calls = calls;
  row.errors = 1;
  row.dur = 500;
  row.dur_min = 100;
  row.dur_max = 400;
  row.bytes = 4096;
  row.hist = {0, 0, 3};
  return row;
}

EventRow event(Strings& strings) {
  EventRow row;
  row.ts = 5;
  row.dur = 6;
  row.pid = 7;
  row.tid = 8;
  row.layer = strings.code("syscall");
  row.name = strings.code("pread64");
  row.error = strings.code("EBADF");
  row.fd = 3;
  row.ret = -1;
  return row;
}

HostRows rows_of_all_kinds(Strings& strings) {
  HostRows rows;
  rows.intervals.rows.push_back(interval(strings, 3));
  rows.events.push(event(strings));
  CounterRow counter;
  counter.ts = 9;
  counter.layer = strings.code("resource");
  counter.name = strings.code("rss");
  counter.value = 0.5;
  rows.counters.rows.push_back(counter);
  rows.losses.push_back({"syscall", "no room", 11});
  return rows;
}

TEST(HostRows, SamplesComeBackWithTheirStacks) {
  Strings strings;
  StackTable stacks;
  Frame outer;
  outer.function = strings.code("main");
  outer.line = 7;
  Frame inner;
  inner.module = strings.code("/bin/program");
  inner.build_id = strings.code("0a1b");
  inner.offset = 4096;
  HostRows rows;
  SampleRow sample;
  sample.ts = 5;
  sample.pid = 6;
  sample.tid = 7;
  sample.cpu = 1;
  sample.event = strings.code("off-cpu");
  sample.weight = 1000;
  sample.ready = 10;
  sample.stack = stacks.stack(std::vector{outer, inner}, strings);
  rows.samples.rows = {sample, sample};
  EXPECT_EQ(stacks.stack(std::vector{outer, inner}, strings), sample.stack);
  EXPECT_NE(stacks.stack(std::vector{inner, outer}, strings), sample.stack);
  rows.frames = stacks.take_new();
  EXPECT_EQ(rows.frames.rows.size(), 4U);
  HostRows back;
  Strings other;
  for (const std::string& entry : encode_rows(rows, strings))
    ASSERT_TRUE(decode_rows(as_bytes(entry), back, other));
  ASSERT_EQ(back.samples.rows.size(), 2U);
  const SampleRow& found = back.samples.rows[1];
  EXPECT_EQ(std::tie(found.ts, found.pid, found.tid, found.cpu, found.weight, found.ready),
            std::tie(sample.ts, sample.pid, sample.tid, sample.cpu, sample.weight, sample.ready));
  EXPECT_EQ(other.view(found.event), "off-cpu");
  EXPECT_EQ(found.stack, sample.stack);
  ASSERT_EQ(back.frames.rows.size(), 4U);
  const FrameRow& place = back.frames.rows[1];
  EXPECT_EQ(place.stack, sample.stack);
  EXPECT_EQ(place.depth, 1);
  EXPECT_TRUE(place.frame.is_place());
  EXPECT_EQ(other.view(place.frame.build_id), "0a1b");
  EXPECT_EQ(place.frame.offset, 4096);
  EXPECT_EQ(back.frames.rows[0].frame.line, 7);
  Decoder::Sums sums;
  add_sums(back, other, sums);
  EXPECT_EQ(sums.events_by_layer["cpu"], 2);
}

TEST(HostRows, IntervalsKeepTheirPeers) {
  Strings strings;
  HostRows rows;
  rows.intervals.rows.push_back(interval(strings, 3));
  IntervalRow pipe = interval(strings, 4);
  pipe.file = kNoString;
  pipe.peer = strings.code("pipe [7]");
  rows.intervals.rows.push_back(pipe);
  rows.targets.rows.push_back(pipe);
  HostRows back;
  Strings other;
  for (const std::string& entry : encode_rows(rows, strings))
    ASSERT_TRUE(decode_rows(as_bytes(entry), back, other));
  ASSERT_EQ(back.intervals.rows.size(), 2U);
  ASSERT_EQ(back.targets.rows.size(), 1U);
  EXPECT_EQ(back.intervals.rows[0].peer, kNoString);
  EXPECT_EQ(other.view(back.intervals.rows[1].peer), "pipe [7]");
  EXPECT_EQ(back.intervals.rows[1].calls, 4);
  EXPECT_EQ(other.view(back.targets.rows[0].peer), "pipe [7]");
  Decoder::Sums sums;
  add_sums(back, other, sums);
  for (const SummaryRow& row : sums.summary.rows())
    EXPECT_EQ(row.key.peer == kNoString, row.key.file != kNoString);
}

TEST(HostRows, EventsKeepTheirArgs) {
  Strings strings;
  HostRows rows;
  rows.events.push(event(strings));
  rows.events.args.add(strings.code("queue"), "12");
  rows.events.args.add(strings.code("device"), "34");
  rows.events.push(event(strings));
  const std::vector<std::string> entries = encode_rows(rows, strings);
  ASSERT_EQ(entries.size(), 1U);
  HostRows back;
  Strings other;
  ASSERT_TRUE(decode_rows(as_bytes(entries[0]), back, other));
  EventBatch all;
  all.append(back.events);
  ASSERT_EQ(all.rows(), 2U);
  EXPECT_EQ(all.args.begin(0), all.args.end(0));
  ASSERT_EQ(all.args.end(1) - all.args.begin(1), 2U);
  EXPECT_EQ(other.view(all.args.key(0)), "queue");
  EXPECT_EQ(all.args.value(1), "34");
  for (std::size_t length = 0; length < entries[0].size(); length++) {
    HostRows part;
    Strings texts;
    decode_rows(as_bytes(entries[0].substr(0, length)), part, texts);
    EXPECT_EQ(part.events.args.rows(), part.events.rows()) << length;
  }
}

TEST(HostRows, ComeBackAsTheyWere) {
  Strings strings;
  HostRows rows = rows_of_all_kinds(strings);
  rows.targets.rows.push_back(interval(strings, 0));
  HostRows back;
  Strings other;
  for (const std::string& entry : encode_rows(rows, strings))
    ASSERT_TRUE(decode_rows(as_bytes(entry), back, other));
  ASSERT_EQ(back.intervals.rows.size(), 1U);
  const IntervalRow& row = back.intervals.rows[0];
  EXPECT_EQ(other.view(row.file), "/a");
  EXPECT_EQ(other.view(row.category), "read");
  EXPECT_EQ(row.width, 1'000'000'000);
  EXPECT_EQ(row.calls, 3);
  EXPECT_EQ(row.dur_max, 400);
  EXPECT_EQ(row.hist, (std::vector<std::int64_t>{0, 0, 3}));
  ASSERT_EQ(back.targets.rows.size(), 1U);
  EXPECT_EQ(back.targets.rows[0].calls, 0);
  ASSERT_EQ(back.events.rows(), 1U);
  EXPECT_EQ(other.view(back.events.row(0).error), "EBADF");
  EXPECT_EQ(back.events.row(0).file, kNoString);
  EXPECT_EQ(back.events.row(0).fd, 3);
  EXPECT_EQ(back.events.row(0).size, kNull);
  ASSERT_EQ(back.counters.rows.size(), 1U);
  EXPECT_EQ(back.counters.rows[0].value, 0.5);
  ASSERT_EQ(back.losses.size(), 1U);
  EXPECT_EQ(back.losses[0].reason, "no room");
  EXPECT_EQ(back.losses[0].count, 11);
}

// Bytes that were written to a second file are sums, and no calls.
TEST(HostRows, TargetsAreInSumsAlone) {
  Strings strings;
  HostRows rows;
  rows.targets.rows.push_back(interval(strings, 0));
  Decoder::Sums sums;
  add_sums(rows, strings, sums);
  ASSERT_EQ(sums.summary.rows().size(), 1U);
  EXPECT_EQ(sums.summary.rows()[0].bytes, 4096);
  EXPECT_EQ(sums.summary.rows()[0].calls, 0);
  EXPECT_TRUE(sums.timeline.rows().empty());
  EXPECT_TRUE(sums.events_by_layer.empty());
}

TEST(HostRows, LongOnesAreManyEntries) {
  Strings strings;
  HostRows rows;
  for (int i = 0; i < 10000; i++) rows.intervals.rows.push_back(interval(strings, i));
  const std::vector<std::string> entries = encode_rows(rows, strings);
  EXPECT_GT(entries.size(), 1U);
  HostRows back;
  for (const std::string& entry : entries) ASSERT_TRUE(decode_rows(as_bytes(entry), back, strings));
  ASSERT_EQ(back.intervals.rows.size(), 10000U);
  EXPECT_EQ(back.intervals.rows[9999].calls, 9999);
}

TEST(HostRows, DamageIsNoticed) {
  Strings strings;
  for (const std::string& entry : encode_rows(rows_of_all_kinds(strings), strings)) {
    HostRows back;
    EXPECT_FALSE(decode_rows(as_bytes(entry).first(entry.size() - 1), back, strings));
  }
  HostRows none;
  EXPECT_FALSE(decode_rows({}, none, strings));
}

TEST(HostRows, LivesComeBackAsTheyWere) {
  ProcessRow row;
  row.pid = 5;
  row.ppid = 1;
  row.start = -3;
  row.exit = 137;
  row.name = "sh";
  row.command = "sh -c true";
  row.rank = 3;
  row.nspid = 2;
  row.rung = "perf";
  ThreadRow thread;
  thread.pid = 5;
  thread.tid = 6;
  thread.start = 7;
  thread.name = "worker";
  thread.ready = 8;
  Lives back;
  const std::string bytes = encode_lives({{row, row}, {thread}});
  ASSERT_TRUE(decode_lives(as_bytes(bytes), back));
  ASSERT_EQ(back.processes.size(), 2U);
  const ProcessRow& last = back.processes[1];
  EXPECT_EQ(last.pid, 5);
  EXPECT_EQ(last.nspid, 2);
  EXPECT_EQ(last.start, -3);
  EXPECT_EQ(last.end, kNull);
  EXPECT_EQ(last.exit, 137);
  EXPECT_EQ(last.rank, 3);
  EXPECT_EQ(last.rung, "perf");
  EXPECT_EQ(last.command, "sh -c true");
  ASSERT_EQ(back.threads.size(), 1U);
  EXPECT_EQ(back.threads[0].pid, 5);
  EXPECT_EQ(back.threads[0].tid, 6);
  EXPECT_EQ(back.threads[0].start, 7);
  EXPECT_EQ(back.threads[0].end, kNull);
  EXPECT_EQ(back.threads[0].name, "worker");
  EXPECT_EQ(back.threads[0].ready, 8);
  back = {};
  EXPECT_FALSE(decode_lives(as_bytes(bytes).first(bytes.size() - 1), back));
  EXPECT_EQ(back.processes.size(), 2U);
  EXPECT_TRUE(back.threads.empty());
}

// A recording that an older recorder was stopped over.
TEST(HostRows, LivesOfRecordersThatDidNotSampleAreRead) {
  std::string bytes;
  put_number(bytes, 1);
  for (const std::int64_t number : {5, 1, 0, 9, 0, 3}) put_signed(bytes, number);
  put_text(bytes, "sh");
  put_text(bytes, "sh -c true");
  put_signed(bytes, 2);
  for (const std::int64_t number : {5, 6, 7, 8, 3}) put_signed(bytes, number);
  put_text(bytes, "worker");
  Lives back;
  ASSERT_TRUE(decode_unsampled_lives(as_bytes(bytes), back));
  ASSERT_EQ(back.processes.size(), 1U);
  EXPECT_EQ(back.processes[0].nspid, 2);
  EXPECT_EQ(back.processes[0].rung, "");
  ASSERT_EQ(back.threads.size(), 1U);
  EXPECT_EQ(back.threads[0].name, "worker");
  EXPECT_EQ(back.threads[0].ready, kNull);
}

TEST(HostRows, ProcessesOfOlderRecordersAreRead) {
  std::string bytes;
  for (const std::int64_t number : {5, 1, -3, 9, 137, 3}) put_signed(bytes, number);
  put_text(bytes, "sh");
  put_text(bytes, "sh -c true");
  std::vector<ProcessRow> back;
  ASSERT_TRUE(decode_processes(as_bytes(bytes + bytes), back));
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[1].pid, 5);
  EXPECT_EQ(back[1].end, 9);
  EXPECT_EQ(back[1].nspid, kNull);
  EXPECT_EQ(back[1].command, "sh -c true");
  back.clear();
  EXPECT_FALSE(decode_processes(as_bytes(bytes).first(bytes.size() - 1), back));
  EXPECT_TRUE(back.empty());
}

// A layer in detail has both intervals and events, and must not be counted twice.
TEST(HostRows, SumsAreThoseOfIntervals) {
  Strings strings;
  Decoder::Sums sums;
  add_sums(rows_of_all_kinds(strings), strings, sums);
  ASSERT_EQ(sums.summary.rows().size(), 1U);
  EXPECT_EQ(sums.summary.rows()[0].calls, 3);
  EXPECT_EQ(sums.summary.rows()[0].bytes, 4096);
  EXPECT_EQ(strings.view(sums.summary.rows()[0].key.category), "read");
  std::int64_t calls = 0;
  for (const Timeline::Row& row : sums.timeline.rows()) calls += row.cell.calls;
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(sums.events_by_layer.at("syscall"), 2);
  EXPECT_EQ(sums.events_by_layer.at("resource"), 1);
  ASSERT_EQ(sums.losses.size(), 1U);
}

}  // namespace
}  // namespace fathom::trace
