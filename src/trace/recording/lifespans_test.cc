// SPDX-License-Identifier: MIT
#include "trace/recording/lifespans.h"

#include <gtest/gtest.h>

#include <sys/wait.h>

#include "trace/testing/spool_builder.h"
#include "wire/record.h"
#include "wire/spool.h"

namespace fathom::trace {
namespace {

// Ticks are ns here, and the run begins at tick 1000.
class LifespansTest : public ::testing::Test {
 protected:
  Process& image(std::uint64_t key, std::int64_t pid, std::uint64_t start, std::uint32_t attach) {
    Process& process = definitions_.process(key);
    process.pid = pid;
    process.start_tick = start;
    process.attach = attach;
    process.attached = true;
    return process;
  }
  void exec(Process& process, std::uint64_t tick, std::int64_t child = 0) {
    definitions_.note(process, {.kind = NoteKind::kExec, .tick = tick, .pid = child});
  }
  void waited(Process& parent, std::uint64_t tick, std::int64_t child, int status) {
    definitions_.note(
        parent,
        {.kind = NoteKind::kWaited, .tick = tick, .pid = child, .value = __W_EXITCODE(status, 0)});
  }
  void ended(Process& process, std::uint64_t tick) {
    definitions_.note(process, {.kind = NoteKind::kProcessEnd, .tick = tick, .known = true});
  }
  Lifespan of(const Process& process, const KnownExits& exits = {}) {
    const PidIndex index(definitions_);
    return Lifespans(index, Clock(FATHOM_TICK_MONOTONIC_NS, {1000, 1000}), exits).of(process);
  }

  testing::TempDir directory_;
  Strings strings_;
  Definitions definitions_{strings_, {}, directory_.path()};
};

TEST_F(LifespansTest, AProgramBeginsWithItsExecAndNotWithTheLibrary) {
  Process& copy = image(1, 7, 2000, FATHOM_ATTACH_FORK);
  copy.last_tick = 2100;
  exec(copy, 2100);
  Process& program = image(2, 7, 9000, FATHOM_ATTACH_PRELOAD);
  EXPECT_EQ(of(copy).start, 1000);
  EXPECT_EQ(of(copy).end, 1100);
  EXPECT_EQ(of(program).start, 1101) << "no moment belongs to both";
  EXPECT_EQ(of(program).image, 1);
  EXPECT_EQ(of(copy).exit, kNull);
}

// Other threads go on until the kernel has ended them.
TEST_F(LifespansTest, WhatWasRecordedBehindTheExecIsOfTheOldProgram) {
  Process& before = image(1, 7, 2000, FATHOM_ATTACH_PRELOAD);
  exec(before, 2100);
  before.last_tick = 2500;
  Process& program = image(2, 7, 9000, FATHOM_ATTACH_PRELOAD);
  EXPECT_EQ(of(before).end, 1500);
  EXPECT_EQ(of(program).start, 1501);
}

TEST_F(LifespansTest, AFailedExecEndsNothing) {
  Process& process = image(1, 7, 2000, FATHOM_ATTACH_PRELOAD);
  exec(process, 2100);
  definitions_.note(process, {.kind = NoteKind::kExecFailed, .tick = 2200});
  EXPECT_EQ(of(process).end, kNull);
}

TEST_F(LifespansTest, AParentThatSpawnsKnowsTheBegin) {
  Process& parent = image(1, 7, 2000, FATHOM_ATTACH_PRELOAD);
  exec(parent, 3000, 8);
  Process& child = image(2, 8, 9000, FATHOM_ATTACH_PRELOAD);
  EXPECT_EQ(of(child).start, 2000);
  EXPECT_EQ(of(child).image, 0);
}

// A number that is given away again is another process: each has its own status.
TEST_F(LifespansTest, LivesOfOnePid) {
  Process& parent = image(1, 6, 1500, FATHOM_ATTACH_PRELOAD);
  std::vector<Process*> lives;
  for (std::uint64_t i = 0; i < 3; i++) {
    lives.push_back(&image(10 + i, 7, 2000 + 100 * i, FATHOM_ATTACH_FORK));
    lives.back()->last_tick = 2010 + 100 * i;
    if (i != 1) ended(*lives.back(), 2020 + 100 * i);
    waited(parent, 2030 + 100 * i, 7, static_cast<int>(i));
  }
  for (std::int64_t i = 0; i < 3; i++) {
    const Lifespan life = of(*lives[static_cast<std::size_t>(i)]);
    EXPECT_EQ(life.image, 0);
    EXPECT_EQ(life.exit, i);
    EXPECT_EQ(life.start, 1000 + 100 * i);
    EXPECT_EQ(life.end, (i == 1 ? 1030 : 1020) + 100 * i) << "one was killed: the wait tells";
  }
}

// A program whose exec nobody told of, and a process whose end nobody saw.
TEST_F(LifespansTest, WhoeverComesNextEndsAnImage) {
  Process& first = image(1, 7, 2000, FATHOM_ATTACH_PRELOAD);
  Process& second = image(2, 7, 3000, FATHOM_ATTACH_PRELOAD);
  Process& third = image(3, 7, 4000, FATHOM_ATTACH_FORK);
  EXPECT_EQ(of(first).end, 1999);
  EXPECT_EQ(of(second).start, 2000);
  EXPECT_EQ(of(second).image, 1);
  EXPECT_EQ(of(second).end, 2999);
  EXPECT_EQ(of(third).image, 0) << "only a new process is a copy of its parent";
  EXPECT_EQ(of(third).end, kNull);
}

TEST_F(LifespansTest, TheRunBeginsWithItsProgram) {
  Process& program = image(1, 7, 9000, FATHOM_ATTACH_PRELOAD);
  program.last_tick = 9500;
  EXPECT_EQ(of(program, {{7, kNull}}).start, 0);
  EXPECT_EQ(of(program, {{7, kNull}}).end, kNull);
  EXPECT_EQ(of(program, {{7, 3}}).exit, 3);
  EXPECT_EQ(of(program, {{7, 3}}).end, 8500);
  EXPECT_EQ(of(program).start, 8000);
}

}  // namespace
}  // namespace fathom::trace
