// SPDX-License-Identifier: MIT
#include "sources/ebpf/rows.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cstring>
#include <string>

#include "sources/ebpf/calls.h"
#include "sources/ebpf/record_paths.h"

namespace fathom::sources::ebpf {
namespace {

using trace::HostRows;
using trace::Strings;

constexpr std::uint32_t kGetppid = 110;  // some number: its name is the architecture's affair
constexpr std::uint32_t kBlockWrite = FATHOM_BPF_CALL(FATHOM_BPF_BLOCK, FATHOM_BLOCK_WRITE);

fathom_file_record file_record(std::uint32_t id, const std::string& components,
                               std::uint32_t mode = S_IFREG) {
  fathom_file_record record{};
  record.kind = FATHOM_RECORD_FILE;
  record.id = id;
  record.mode = mode;
  record.inode = 77;
  record.bytes = static_cast<std::uint32_t>(components.size());
  std::memcpy(record.path, components.data(), components.size());
  return record;
}

fathom_call_record call_record(std::uint32_t kind, std::uint32_t call, std::int64_t ret,
                               std::uint32_t file) {
  return {.kind = kind,
          .call = call,
          .pid = 5,
          .tid = 6,
          .begin = 1000,
          .end = 1300,
          .ret = ret,
          .size = ~std::uint64_t{0},
          .offset = ~std::uint64_t{0},
          .file = file,
          .fd = -1};
}

fathom_process_record process_record(std::uint32_t kind, std::uint32_t pid, std::uint64_t at,
                                     std::uint32_t parent = 0, int status = 0) {
  fathom_process_record record{};
  record.kind = kind;
  record.pid = record.tid = pid;
  record.parent = parent;
  record.at = at;
  record.status = status;
  return record;
}

template <class Record>
void give(RowMaker& maker, const Record& record) {
  maker.add(std::as_bytes(std::span(&record, 1)));
}

TEST(EbpfRows, PathsAreWalkedFromTheirEnd) {
  using namespace std::string_literals;
  struct Case {
    std::string components;
    std::uint32_t mode;
    const char* path;
  };
  const Case cases[] = {
      {"file\0dir\0home\0"s, S_IFREG, "/home/dir/file"},
      {"file\0"s, S_IFREG, "/file"},
      {"", S_IFDIR, "/"},
      {"", S_IFIFO, "pipe [77]"},
      {"", S_IFSOCK, "socket [77]"},
      {"", 0, "anon_inode [77]"},
      {"a\xff\0"s, S_IFREG, "/a\\xff"},
      {"cut off"s, S_IFREG, "/cut off"},
  };
  for (const Case& c : cases) EXPECT_EQ(path_of(file_record(1, c.components, c.mode)), c.path);
  fathom_file_record cut = file_record(1, "file\0dir\0"s);
  cut.cut = 1;
  EXPECT_EQ(path_of(cut), ".../dir/file");
}

TEST(EbpfRows, PathsThatCallsName) {
  using namespace std::string_literals;
  const std::pair<std::string, const char*> cases[] = {
      {"/etc//./passwd\0"s, "/etc/passwd"},
      {"/etc/passwd\0jail\0"s, "/jail/etc/passwd"},  // below another root
      {"a/../b\0dir\0home\0"s, "/home/dir/b"},
      {"../b\0dir\0home\0"s, "/home/b"},
      {"..\0"s, "/"},
      {"a\xff\0dir\0"s, "/dir/a\\xff"},
  };
  for (const auto& [components, path] : cases) {
    fathom_file_record record = file_record(1, components);
    record.named = 1;
    EXPECT_EQ(path_of(record), path);
    record.cut = 1;
    EXPECT_EQ(path_of(record), "..." + std::string(path));
  }
}

// With the time in the queue where the device's is known.
TEST(EbpfRows, PartsOfARequest) {
  RowMaker maker({.layers = {FATHOM_BPF_BLOCK}});
  fathom_call_record known = call_record(FATHOM_RECORD_CALL, kBlockWrite, 4096, FATHOM_BPF_NO_FILE);
  known.offset = 100;
  give(maker, known);
  give(maker, call_record(FATHOM_RECORD_CALL, kBlockWrite, 4096, FATHOM_BPF_NO_FILE));
  maker.finish();
  Strings strings;
  HostRows rows;
  maker.take(strings, rows);
  const trace::Args& args = rows.events.args;
  ASSERT_EQ(rows.events.rows(), 2U);
  ASSERT_EQ(args.end(0), 2U);
  EXPECT_EQ(strings.view(args.key(0)), "queue");
  EXPECT_EQ(args.value(0), "100");
  EXPECT_EQ(strings.view(args.key(1)), "device");
  EXPECT_EQ(args.value(1), "200");
  EXPECT_EQ(rows.events.offset[0], trace::kNull);
  EXPECT_EQ(args.end(1), args.begin(1));
}

TEST(EbpfRows, FindsWhereADeviceIsMounted) {
  constexpr char kMounts[] =
      "22 1 254:0 / / rw - ext4 /dev/vda rw\n"
      "30 22 8:1 /inner /bound rw - ext4 /dev/sda1 rw\n"
      "31 22 8:1 / /data rw - ext4 /dev/sda1 rw\n"
      "broken\n";
  EXPECT_EQ(mount_point(254U << 20U, kMounts), "");
  EXPECT_EQ(mount_point(8U << 20U | 1U, kMounts), "/data");
  EXPECT_EQ(mount_point(9U << 20U, kMounts), "");
}

TEST(EbpfRows, CallsWaitForTheirFiles) {
  RowMaker maker({.layers = {FATHOM_BPF_BLOCK}});
  Strings strings;
  HostRows rows;
  give(maker, call_record(FATHOM_RECORD_CALL, kBlockWrite, 512, 3));
  maker.take(strings, rows);
  EXPECT_EQ(rows.events.rows(), 0U);
  give(maker, file_record(3, std::string("vda\0dev\0", 8)));
  maker.take(strings, rows);
  ASSERT_EQ(rows.events.rows(), 1U);
  const trace::EventRow row = rows.events.row(0);
  EXPECT_EQ(strings.view(row.layer), "block");
  EXPECT_EQ(strings.view(row.name), "write");
  EXPECT_EQ(strings.view(row.file), "/dev/vda");
  EXPECT_EQ(row.ts, 1000);
  EXPECT_EQ(row.dur, 300);
  EXPECT_EQ(row.bytes, 512);
  EXPECT_EQ(row.size, trace::kNull);
  EXPECT_EQ(row.fd, trace::kNull32);
}

TEST(EbpfRows, WhatIsNoFileIsAPeer) {
  RowMaker maker({.layers = {FATHOM_BPF_BLOCK}, .interval_ns = 100});
  Strings strings;
  HostRows rows;
  give(maker, file_record(3, "", S_IFIFO));
  give(maker, call_record(FATHOM_RECORD_CALL, kBlockWrite, 512, 3));
  give(maker, call_record(FATHOM_RECORD_SUM, kBlockWrite, 512, 3));
  maker.take(strings, rows);
  ASSERT_EQ(rows.events.rows(), 1U);
  EXPECT_EQ(rows.events.file[0], trace::kNoString);
  ASSERT_EQ(rows.events.args.end(0), 1U);
  EXPECT_EQ(strings.view(rows.events.args.key(0)), "peer");
  EXPECT_EQ(rows.events.args.value(0), "pipe [77]");
  ASSERT_EQ(rows.intervals.rows.size(), 1U);
  EXPECT_EQ(rows.intervals.rows[0].file, trace::kNoString);
  EXPECT_EQ(strings.view(rows.intervals.rows[0].peer), "pipe [77]");
}

// A path that was lost: at the end its calls go without a name.
TEST(EbpfRows, NothingWaitsForever) {
  RowMaker maker({.layers = {FATHOM_BPF_BLOCK}});
  Strings strings;
  HostRows rows;
  give(maker, call_record(FATHOM_RECORD_CALL, kBlockWrite, -5, 3));
  maker.finish();
  maker.take(strings, rows);
  ASSERT_EQ(rows.events.rows(), 1U);
  EXPECT_EQ(rows.events.row(0).file, trace::kNoString);
  EXPECT_EQ(strings.view(rows.events.row(0).error), "EIO");
  EXPECT_EQ(rows.events.row(0).ret, -1);
  EXPECT_EQ(rows.events.row(0).bytes, trace::kNull);
}

// What found no room in the kernel's map is a row of one call, with what its sums would have held.
TEST(EbpfRows, ACallThatWasSpilledIsARow) {
  RowMaker maker({.layers = {FATHOM_BPF_BLOCK}, .interval_ns = 100});
  Strings strings;
  HostRows rows;
  give(maker, call_record(FATHOM_RECORD_SUM, kBlockWrite, 512, 0));
  maker.take(strings, rows);
  ASSERT_EQ(rows.intervals.rows.size(), 1U);
  const trace::IntervalRow& row = rows.intervals.rows[0];
  EXPECT_EQ(row.ts, 1300);
  EXPECT_EQ(row.width, 100);
  EXPECT_EQ(row.calls, 1);
  EXPECT_EQ(row.errors, 0);
  EXPECT_EQ(row.bytes, 512);
  EXPECT_EQ(row.dur, 300);
  EXPECT_EQ(row.dur_min, 300);
  EXPECT_EQ(row.hist, (std::vector<std::int64_t>{0, 0, 0, 0, 0, 0, 0, 0, 1}));
}

// It keeps its error, and has moved nothing.
TEST(EbpfRows, ACallThatWasSpilledMayHaveFailed) {
  struct Case {
    std::int64_t ret;
    std::int64_t errors;
    std::int64_t bytes;
  };
  const Case cases[] = {{-5, 1, 0}, {-1, 1, 0}, {-4095, 1, 0}, {-4096, 0, 0}, {0, 0, 0}, {7, 0, 7}};
  for (const Case& c : cases) {
    RowMaker maker({.layers = {FATHOM_BPF_BLOCK}, .interval_ns = 100});
    Strings strings;
    HostRows rows;
    give(maker, call_record(FATHOM_RECORD_SUM, kBlockWrite, c.ret, 0));
    maker.take(strings, rows);
    ASSERT_EQ(rows.intervals.rows.size(), 1U);
    EXPECT_EQ(rows.intervals.rows[0].calls, 1) << c.ret;
    EXPECT_EQ(rows.intervals.rows[0].errors, c.errors) << c.ret;
    EXPECT_EQ(rows.intervals.rows[0].bytes, c.bytes) << c.ret;
  }
}

TEST(EbpfRows, LivesOfProcesses) {
  RowMaker maker({.layers = {FATHOM_BPF_SYSCALL}, .start_monotonic_ns = 100});
  fathom_process_record exec = process_record(FATHOM_RECORD_EXEC, 10, 110, 1);
  std::memcpy(exec.command, "/bin/sh\0-c\0true", 16);
  exec.bytes = 16;
  give(maker, exec);
  give(maker, process_record(FATHOM_RECORD_FORK, 11, 120, 10));
  fathom_process_record thread = process_record(FATHOM_RECORD_FORK, 11, 125, 10);
  thread.tid = 12;
  give(maker, thread);
  give(maker, process_record(FATHOM_RECORD_EXIT, 11, 130, 0, 7 << 8));  // one of two threads
  Strings strings;
  HostRows rows;
  maker.take(strings, rows);
  EXPECT_TRUE(rows.lives.processes.empty());
  thread = process_record(FATHOM_RECORD_EXIT, 11, 140, 0, 7 << 8);
  thread.tid = 12;
  give(maker, thread);
  give(maker, process_record(FATHOM_RECORD_EXIT, 10, 150, 0, 9));
  maker.take(strings, rows);
  ASSERT_EQ(rows.lives.processes.size(), 2U);
  const trace::ProcessRow& child = rows.lives.processes[0];
  EXPECT_EQ(child.pid, 11);
  EXPECT_EQ(child.ppid, 10);
  EXPECT_EQ(child.command, "/bin/sh -c true");
  EXPECT_EQ(child.start, 20);
  EXPECT_EQ(child.end, 40);
  EXPECT_EQ(child.exit, 7);
  EXPECT_EQ(rows.lives.processes[1].name, "sh");
  EXPECT_EQ(rows.lives.processes[1].ppid, 1);
  EXPECT_EQ(rows.lives.processes[1].exit, 128 + 9);
}

// A thread that computes makes no call, and lived all the same. Its name is the last that it had.
TEST(EbpfRows, LivesOfThreads) {
  RowMaker maker({.layers = {FATHOM_BPF_SYSCALL}, .start_monotonic_ns = 100});
  fathom_process_record exec = process_record(FATHOM_RECORD_EXEC, 10, 110, 1);
  std::memcpy(exec.command, "/bin/first", 11);
  exec.bytes = 11;
  give(maker, exec);
  fathom_process_record thread = process_record(FATHOM_RECORD_FORK, 10, 125, 10);
  thread.tid = 12;
  give(maker, thread);
  thread = process_record(FATHOM_RECORD_EXIT, 10, 140);
  thread.tid = 12;
  std::memcpy(thread.command, "worker", 7);
  thread.bytes = 16;
  give(maker, thread);
  std::memcpy(exec.command, "/bin/other", 11);
  exec.at = 150;
  give(maker, exec);
  maker.finish();
  Strings strings;
  HostRows rows;
  maker.take(strings, rows);
  const std::vector<trace::ThreadRow>& threads = rows.lives.threads;
  ASSERT_EQ(threads.size(), 3U);
  EXPECT_EQ(std::tuple(threads[0].pid, threads[0].tid, threads[0].start, threads[0].end),
            std::tuple(10, 12, 25, 40));
  EXPECT_EQ(threads[0].name, "worker");
  EXPECT_EQ(std::tuple(threads[1].tid, threads[1].start, threads[1].end), std::tuple(10, 10, 49));
  EXPECT_EQ(threads[1].name, "first");
  EXPECT_EQ(std::tuple(threads[2].tid, threads[2].start, threads[2].end),
            std::tuple(10, 50, trace::kNull));
  EXPECT_EQ(threads[2].name, "other");
}

// The word that a thread began may be lost, but not its life; its process goes on without it.
TEST(EbpfRows, ThreadWhoseBeginWasLost) {
  RowMaker maker({.layers = {FATHOM_BPF_SYSCALL}, .start_monotonic_ns = 100});
  give(maker, process_record(FATHOM_RECORD_EXEC, 10, 110, 1));
  for (const std::uint64_t since : {125U, 105U}) {  // and one that is said to be older than that
    fathom_process_record thread = process_record(FATHOM_RECORD_EXIT, 10, 140);
    thread.tid = 12;
    thread.since = since;
    give(maker, thread);
  }
  Strings strings;
  HostRows rows;
  maker.take(strings, rows);
  const std::vector<trace::ThreadRow>& threads = rows.lives.threads;
  ASSERT_EQ(threads.size(), 2U);
  EXPECT_EQ(std::tuple(threads[0].tid, threads[0].start, threads[0].end), std::tuple(12, 25, 40));
  EXPECT_EQ(std::tuple(threads[1].tid, threads[1].start, threads[1].end), std::tuple(12, 10, 40));
  EXPECT_TRUE(rows.lives.processes.empty());
  give(maker, process_record(FATHOM_RECORD_EXIT, 10, 150));
  maker.take(strings, rows);
  ASSERT_EQ(rows.lives.processes.size(), 1U);
  EXPECT_EQ(rows.lives.processes[0].end, 50);
}

TEST(EbpfRows, NumbersInAPidNamespace) {
  RowMaker maker({.layers = {FATHOM_BPF_SYSCALL}});
  fathom_process_record inside = process_record(FATHOM_RECORD_FORK, 11, 1, 10);
  inside.nspid = 1;
  give(maker, inside);
  inside.kind = FATHOM_RECORD_EXEC;
  inside.at = 2;
  give(maker, inside);
  give(maker, process_record(FATHOM_RECORD_EXEC, 12, 3));
  maker.finish();
  Strings strings;
  HostRows rows;
  maker.take(strings, rows);
  ASSERT_EQ(rows.lives.processes.size(), 3U);
  EXPECT_EQ(rows.lives.processes[0].nspid, 1);
  EXPECT_EQ(rows.lives.processes[1].nspid, 1);
  EXPECT_EQ(rows.lives.processes[2].nspid, trace::kNull);
}

TEST(EbpfRows, AnotherProgramIsAnotherRow) {
  RowMaker maker({.layers = {FATHOM_BPF_SYSCALL}});
  give(maker, process_record(FATHOM_RECORD_EXEC, 10, 1));
  give(maker, process_record(FATHOM_RECORD_EXEC, 10, 2));
  maker.finish();
  Strings strings;
  HostRows rows;
  maker.take(strings, rows);
  ASSERT_EQ(rows.lives.processes.size(), 2U);
  EXPECT_EQ(rows.lives.processes[0].end, 2);
  EXPECT_EQ(rows.lives.processes[0].exit, trace::kNull);
  EXPECT_EQ(rows.lives.processes[1].end, trace::kNull);
}

TEST(EbpfRows, WhoLivesForLongIsToldOfBeforeHisEnd) {
  RowMaker maker({.layers = {FATHOM_BPF_SYSCALL}});
  give(maker, process_record(FATHOM_RECORD_EXEC, 10, 5));
  Strings strings;
  std::vector<std::size_t> told;
  for (int i = 0; i < 4; ++i) {
    HostRows rows;
    maker.take(strings, rows);
    told.push_back(rows.lives.processes.size());
  }
  EXPECT_EQ(told, (std::vector<std::size_t>{0, 1, 0, 0}));
  give(maker, process_record(FATHOM_RECORD_EXIT, 10, 6));
  HostRows rows;
  maker.take(strings, rows);
  ASSERT_EQ(rows.lives.processes.size(), 1U);
  EXPECT_EQ(rows.lives.processes[0].start, 5);
  EXPECT_EQ(rows.lives.processes[0].end, 6);
}

TEST(EbpfRows, RankOfAProcess) {
  using namespace std::string_view_literals;
  struct Case {
    std::string_view environment;
    std::int64_t want;
  };
  const Case cases[] = {
      {"", trace::kNull},
      {"PATH=/bin\0HOME=/\0"sv, trace::kNull},
      {"PATH=/bin\0PMI_RANK=3\0"sv, 3},
      {"SLURM_PROCID=5\0OMPI_COMM_WORLD_RANK=2\0"sv, 2},
      {"PMI_RANK=x\0SLURM_PROCID=5\0"sv, 5},
      {"XPMI_RANK=1\0PMI_RANKS=1\0PMI_RANK"sv, trace::kNull},
  };
  for (const Case& c : cases) EXPECT_EQ(rank_in(c.environment), c.want) << c.environment;
}

TEST(EbpfRows, WhoJoinsIsThereWithAllThreads) {
  RowMaker maker({.layers = {FATHOM_BPF_SYSCALL}});
  constexpr std::uint32_t kNobody = 0x7ffffff0;  // whose command cannot be asked for
  fathom_process_record thread = process_record(FATHOM_RECORD_JOIN, kNobody, 5, 1);
  std::memcpy(thread.command, "worker", 7);
  thread.bytes = 16;
  thread.tid = kNobody + 1;
  give(maker, thread);
  thread.tid = kNobody;
  give(maker, thread);
  EXPECT_EQ(maker.alive(), (std::vector<Followed>{{kNobody, 5}}));
  Strings strings;
  HostRows rows;
  give(maker, process_record(FATHOM_RECORD_EXIT, kNobody, 6));
  maker.take(strings, rows);
  EXPECT_TRUE(rows.lives.processes.empty());  // one of two
  maker.forget(kNobody);
  EXPECT_TRUE(maker.alive().empty());
  maker.take(strings, rows);
  ASSERT_EQ(rows.lives.processes.size(), 1U);
  EXPECT_EQ(rows.lives.processes[0].name, "worker");
  EXPECT_EQ(rows.lives.processes[0].command, "worker");
  EXPECT_EQ(rows.lives.processes[0].start, 5);
}

SumOfCalls one_call(std::uint32_t interval) {
  SumOfCalls sum{.key = {interval, 10, 10, kGetppid, 0, 0}, .sums = {}};
  sum.sums.calls = 1;
  return sum;
}

TEST(EbpfRows, WhatACopyWroteIsBytesAlone) {
  RowMaker maker({.layers = {FATHOM_BPF_SYSCALL}});
  SumOfCalls target = one_call(0);
  target.key.call = SYS_copy_file_range | FATHOM_BPF_TARGET;
  target.sums.bytes = 4096;
  target.sums.ns = 7;
  maker.add({one_call(0), target});
  maker.finish();
  Strings strings;
  HostRows rows;
  maker.take(strings, rows);
  EXPECT_EQ(rows.intervals.rows.size(), 1U);
  ASSERT_EQ(rows.targets.rows.size(), 1U);
  const trace::IntervalRow& row = rows.targets.rows[0];
  EXPECT_EQ(strings.view(row.name), "copy_file_range");
  EXPECT_EQ(strings.view(row.category), "write");
  EXPECT_EQ(row.bytes, 4096);
  EXPECT_EQ(row.calls, 0);
  EXPECT_EQ(row.dur, 0);
}

TEST(EbpfRows, AnotherRecordingCountsFromItsOwnStart) {
  RowMaker maker({.layers = {FATHOM_BPF_SYSCALL}, .start_monotonic_ns = 1000, .interval_ns = 100});
  give(maker, process_record(FATHOM_RECORD_EXEC, 10, 1050));
  maker.add({one_call(2)});
  Strings strings;
  HostRows old;
  maker.begin_anew(300, strings, old);
  ASSERT_EQ(old.intervals.rows.size(), 1U);
  EXPECT_EQ(old.intervals.rows[0].ts, 200);
  ASSERT_EQ(old.lives.processes.size(), 1U);
  EXPECT_EQ(old.lives.processes[0].start, 50);
  maker.add({one_call(3)});
  give(maker, process_record(FATHOM_RECORD_EXIT, 10, 1320));
  HostRows next;
  maker.take(strings, next);
  ASSERT_EQ(next.intervals.rows.size(), 1U);
  EXPECT_EQ(next.intervals.rows[0].ts, 0);
  ASSERT_EQ(next.lives.processes.size(), 1U);
  EXPECT_EQ(next.lives.processes[0].start, 0);
  EXPECT_EQ(next.lives.processes[0].end, 20);
  ASSERT_EQ(old.lives.threads.size(), 1U);
  EXPECT_EQ(old.lives.threads[0].start, 50);
  ASSERT_EQ(next.lives.threads.size(), 1U);
  EXPECT_EQ(next.lives.threads[0].start, 0);
  EXPECT_EQ(next.lives.threads[0].end, 20);
}

TEST(EbpfRows, LossesAreToldOnceAndByLayer) {
  RowMaker maker({.layers = {FATHOM_BPF_BLOCK}});
  std::vector<std::uint64_t> counts(FATHOM_BPF_COUNTER(FATHOM_BPF_LAYERS + 1, 0));
  const std::uint32_t call = FATHOM_BPF_COUNTER(FATHOM_BPF_SYSCALL, FATHOM_LOST_CALL);
  counts[call] = 5;
  maker.add_losses(counts);
  maker.add_losses(counts);
  counts[call] = 7;
  counts[FATHOM_BPF_COUNTER(FATHOM_BPF_LAYERS, FATHOM_LOST_FILE)] = 1;  // of no layer
  maker.add_losses(counts);
  Strings strings;
  HostRows rows;
  maker.take(strings, rows);
  ASSERT_EQ(rows.losses.size(), 3U);
  EXPECT_EQ(rows.losses[0].count + rows.losses[1].count, 7);
  EXPECT_EQ(rows.losses[0].layer, "syscall");
  EXPECT_EQ(rows.losses[2].layer, "block");
}

TEST(EbpfRows, WhatTheKernelDoesOnItsOwnIsAProcess) {
  RowMaker maker({.layers = {FATHOM_BPF_BLOCK}});
  SumOfCalls writes{.key = {0, 0, 0, kBlockWrite, 0, 1}, .sums = {}};
  writes.sums.calls = 2;
  maker.add({writes});
  maker.finish();
  Strings strings;
  HostRows rows;
  maker.take(strings, rows);
  ASSERT_EQ(rows.intervals.rows.size(), 1U);
  EXPECT_EQ(rows.intervals.rows[0].pid, 0);
  EXPECT_EQ(strings.view(rows.intervals.rows[0].category), "write");
  ASSERT_EQ(rows.lives.processes.size(), 1U);
  EXPECT_EQ(rows.lives.processes[0].name, "[kernel]");
}

TEST(EbpfRows, TornRecordsAreNoRows) {
  RowMaker maker({.layers = {FATHOM_BPF_SYSCALL}});
  const fathom_call_record call = call_record(FATHOM_RECORD_CALL, kGetppid, 0, 0);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(&call, 1));
  for (std::size_t size = 0; size < bytes.size(); ++size) maker.add(bytes.first(size));
  maker.finish();
  Strings strings;
  HostRows rows;
  maker.take(strings, rows);
  EXPECT_TRUE(rows.empty());
}

}  // namespace
}  // namespace fathom::sources::ebpf
