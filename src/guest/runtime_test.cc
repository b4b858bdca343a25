// SPDX-License-Identifier: MIT
// Writers inside each other, levels of depth, and segments that threads and forked children take.
#include "guest/runtime.h"

#include <gtest/gtest.h>
#include <setjmp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <thread>

#include "guest/records.h"
#include "guest/testing/world.h"
#include "guest/threads.h"

namespace fathom::guest {
namespace {

constexpr fathom_source kSource = FATHOM_SOURCE_RUNTIME;

class Runtime : public ::testing::Test {
 protected:
  void SetUp() override { testing::enter_world(); }
};

void mark(uint32_t id) { write_id(FATHOM_KIND_THREAD_NAME, id); }

size_t times(const testing::Contents& contents, uint64_t id) {
  size_t found = 0;
  for (const auto& run : contents.runs) {
    for (const uint64_t name : run.names) found += name == id;
  }
  return found;
}

// A writer with other writers inside it, as handlers have that interrupt each other.
__attribute__((noinline)) void write_inside(uint32_t id, int left) {
  Writer writer(kSource);
  if (left > 0) write_inside(id + 1, left - 1);
  if (writer.ok())
    writer.commit(fathom_put_varint(put_head(tls.cursor.at, FATHOM_KIND_THREAD_NAME), id));
  __asm__ volatile("" ::: "memory");
}

TEST_F(Runtime, WritersInsideEachOtherAllWrite) {
  const Cursor before = tls.cursor;
  write_inside(1000, kCursors - 1);
  EXPECT_EQ(tls.level, 0);
  EXPECT_EQ(tls.writing, 0U);
  EXPECT_EQ(tls.cursor.segment, before.segment);
  const testing::Contents contents = testing::read_spool();
  EXPECT_FALSE(contents.damaged);
  for (uint32_t id = 1000; id < 1000 + kCursors; id++) EXPECT_EQ(times(contents, id), 1U) << id;
}

// A record's time counts from the cursor's last one, and never runs backwards.
TEST_F(Runtime, ANewSegmentDatesNoCallLater) {
  mark(1999);
  size_t segments = 0;
  for (int i = 0; i < 30'000; i++) {
    const fathom_segment* const before = tls.cursor.segment;
    const uint64_t end = tick();  // of a call, whose record comes now
    mark(2000);
    segments += tls.cursor.segment != before;
    ASSERT_LE(tls.cursor.last_end, end) << i;
  }
  EXPECT_GT(segments, 1U);
}

// Destructors of the program may call something behind ours.
TEST_F(Runtime, AThreadThatCallsAfterItsEndIsTheSame) {
  uint32_t first = 0, second = 0, next = 0;
  std::thread([&] {
    mark(2100);
    first = tls.thread->ordinal;
    const uint32_t run = tls.thread->run;
    leave_thread();
    EXPECT_EQ(tls.thread, nullptr);
    mark(2101);
    second = tls.thread->ordinal;
    EXPECT_EQ(tls.thread->run, run + 1) << "no number is used twice";
  }).join();
  std::thread([&] {
    mark(2102);
    next = tls.thread->ordinal;
  }).join();
  EXPECT_EQ(second, first);
  EXPECT_EQ(next, first + 1);
}

TEST_F(Runtime, OneTooManyIsCounted) {
  const uint64_t before = testing::losses(kSource, FATHOM_LOSS_NESTED);
  write_inside(2000, kCursors);
  EXPECT_EQ(testing::losses(kSource, FATHOM_LOSS_NESTED), before + 1);
  EXPECT_EQ(times(testing::read_spool(), 2000 + kCursors), 0U);
  EXPECT_EQ(tls.level, 0);
  mark(2999);
  EXPECT_EQ(times(testing::read_spool(), 2999), 1U);
}

jmp_buf back;
__attribute__((noinline)) void leave_inside(int left) {
  Writer writer(kSource);
  if (left > 0) leave_inside(left - 1);
  if (left == 0) longjmp(back, 1);
  __asm__ volatile("" ::: "memory");
}

// Deep enough that whatever is called after it lies above.
__attribute__((noinline)) void leave_far_below(int depth) {
  volatile char distance[4096];
  distance[0] = 0;
  leave_inside(depth);
  distance[1] = distance[0];
}

void mark_after_leaving(int depth) {
  if (setjmp(back) == 0) leave_far_below(depth);
  mark(3000 + static_cast<uint32_t>(depth));
}

TEST_F(Runtime, WritersLeftByLongjmpAreForgotten) {
  for (int depth = 0; depth < kCursors; depth++) {
    mark_after_leaving(depth);
    EXPECT_EQ(tls.level, 0);
    EXPECT_EQ(tls.writing, 0U);
  }
  const testing::Contents contents = testing::read_spool();
  EXPECT_FALSE(contents.damaged);
  for (uint32_t id = 3000; id < 3000 + kCursors; id++) EXPECT_EQ(times(contents, id), 1U);
}

TEST_F(Runtime, LevelsNestAndAbandonedOnesAreSeenByTheirFrames) {
  constexpr uintptr_t kHigh = 0x7000, kMiddle = 0x6000, kLow = 0x5000;
  const uint8_t depth = open_level(kHigh, Level::kRegion);
  EXPECT_EQ(open_level(kHigh, Level::kRegion), depth + 1) << "regions of one function nest";
  EXPECT_EQ(open_level(kMiddle), depth + 2);
  EXPECT_EQ(open_level(kLow), depth + 3);
  EXPECT_EQ(open_level(kMiddle), depth + 2) << "longjmp left two calls behind";
  close_level(depth);
  EXPECT_EQ(open_level(kHigh), depth);
  close_level(depth);
}

TEST_F(Runtime, DepthHasAnEnd) {
  uintptr_t frame = 0x700000;
  const uint8_t first = tls.depth;
  for (int i = 0; i < 2 * kMaxDepth; i++) EXPECT_LE(open_level(frame -= 64), kMaxDepth);
  close_level(first);
}

TEST_F(Runtime, OthersAreCallingWhileOneThreadIs) {
  EXPECT_FALSE(others_are_calling());
  tls.thread->calls = 1;
  EXPECT_FALSE(others_are_calling()) << "our own do not count";
  tls.thread->calls = 0;
  std::thread([] {
    mark(4000);
    tls.thread->calls = 1;
    Thread* const own = tls.thread;
    std::thread([] {
      mark(4001);
      EXPECT_TRUE(others_are_calling());
    }).join();
    own->calls = 0;
  }).join();
  EXPECT_FALSE(others_are_calling());
}

// A name may change until the end; the first thread's is the program's.
TEST_F(Runtime, AThreadIsNamedWhenItLeaves) {
  std::thread([] {
    mark(4002);
    pthread_setname_np(pthread_self(), "named at last");
    leave_thread();
  }).join();
  const testing::Contents contents = testing::read_spool();
  size_t found = 0;
  for (const auto& [id, text] : contents.texts) {
    if (text == "named at last") found += times(contents, id);
  }
  EXPECT_EQ(found, 1U);
}

size_t room_left() {
  const auto used = tls.cursor.at - reinterpret_cast<uint8_t*>(tls.cursor.segment);
  return FATHOM_SEGMENT_SIZE - static_cast<size_t>(used);
}

TEST_F(Runtime, WhatJustFitsStaysInItsSegment) {
  mark(4003);
  Writer writer(kSource);
  const uint8_t* const at = tls.cursor.at;
  EXPECT_EQ(room_for(writer, room_left() - kRecordRoom, kSource), at);
  EXPECT_NE(room_for(writer, room_left() - kRecordRoom + 1, kSource), at);
}

// Of a child, whose segments nobody needs afterwards: 0 where a record found no room.
[[noreturn]] void end_without_segments() {
  Writer writer(kSource);
  const Cursor mine = tls.cursor;
  tls.cursor = {};
  while (acquire_segment()) {
  }
  tls.cursor = mine;
  const bool refused = room_for(writer, room_left() - kRecordRoom + 1, kSource) == nullptr;
  _exit(refused ? 0 : 1);
}

TEST_F(Runtime, WhatFindsNoSegmentIsCounted) {
  const uint64_t before = testing::losses(kSource, FATHOM_LOSS_NO_ROOM);
  const testing::NoMorePools none;
  const pid_t child = fork();
  if (child == 0) {
    testing::become_child();
    mark(4004);
    end_without_segments();
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(testing::losses(kSource, FATHOM_LOSS_NO_ROOM), before + 1);
}

TEST_F(Runtime, AFileSizeLimitHasALossOfItsOwn) {
  const uint64_t before = testing::losses(kSource, FATHOM_LOSS_FILE_LIMIT);
  const pid_t child = fork();
  if (child == 0) {
    testing::become_child();
    mark(4005);
    const rlimit limit{FATHOM_SEGMENT_SIZE, RLIM_INFINITY};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(2);
    end_without_segments();
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(testing::losses(kSource, FATHOM_LOSS_FILE_LIMIT), before + 1);
}

// Marks that tell who wrote them: every one is there, once, in a run of its own writer, in order.
constexpr uint32_t kFirstMark = 1 << 20, kMarks = 3000;

void expect_marks(const testing::Contents& contents, uint32_t writers) {
  EXPECT_FALSE(contents.damaged);
  std::map<uint64_t, size_t> found;
  for (const auto& run : contents.runs) {
    uint64_t last = 0, writer = 0;
    for (const uint64_t name : run.names) {
      if (name < kFirstMark) continue;
      const uint64_t who = name / kFirstMark;
      EXPECT_TRUE(writer == 0 || writer == who) << "two writers in one run";
      EXPECT_GT(name, last);
      writer = who;
      last = name;
      found[who]++;
    }
  }
  EXPECT_EQ(found.size(), writers);
  for (const auto& [who, number] : found) EXPECT_EQ(number, kMarks) << who;
}

void write_marks(uint32_t who) {
  for (uint32_t i = 0; i < kMarks; i++) mark(who * kFirstMark + i);
}

TEST_F(Runtime, NoSegmentHasTwoOwners) {
  constexpr uint32_t kThreads = 24, kChildren = 12;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (uint32_t i = 1; i <= kThreads; i++) threads.emplace_back([i] { write_marks(i); });
  for (std::thread& thread : threads) thread.join();
  for (uint32_t i = 1; i <= kChildren; i++) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child != 0) continue;
    testing::become_child();
    write_marks(kThreads + i);
    leave_thread();
    _exit(0);
  }
  write_marks(kThreads + kChildren + 1);
  for (int status = 0; wait(&status) > 0;) EXPECT_EQ(status, 0);
  expect_marks(testing::read_spool(), kThreads + kChildren + 1);
}

}  // namespace
}  // namespace fathom::guest
