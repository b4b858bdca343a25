// SPDX-License-Identifier: MIT
#include "trace/recording/lifespans.h"

#include <gtest/gtest.h>

#include <sys/wait.h>

#include "trace/testing/spool_builder.h"
#include "wire/exec.h"
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
  // In a pid namespace, under this number.
  void inside(Process& process, std::int64_t number, std::uint64_t space) {
    const std::string texts[] = {FATHOM_META_NSPID, std::to_string(number), FATHOM_META_NAMESPACE,
                                 std::to_string(space)};
    for (std::uint64_t id = 1; id <= 4; id++)
      definitions_.define(process, id, {.kind = DefinitionKind::kString}, texts[id - 1]);
    process.meta = {{1, 2}, {3, 4}};
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

// Both call themselves 2, and neither saw the other.
TEST_F(LifespansTest, EqualNumbersOfTwoNamespacesAreTwoProcesses) {
  Process& first = image(1, 2, 2000, FATHOM_ATTACH_FORK);
  inside(first, 2, 0xf0000001);
  Process& second = image(2, 2, 3000, FATHOM_ATTACH_FORK);
  inside(second, 2, 0xf0000002);
  EXPECT_EQ(of(first).end, kNull) << "the second is nobody's next image";
  EXPECT_EQ(of(second).start, 2000);
  EXPECT_EQ(of(second).image, 0);
}

// The recorder calls them 107 and 108; in their namespace they are 1 and 2.
class Namespaces : public LifespansTest {
 protected:
  Namespaces() {
    inside(init_, 1, kSpace);
    inside(child_, 2, kSpace);
    init_.parent_key = maker_.key;
    child_.ppid = 1;
  }
  static constexpr std::uint64_t kSpace = 0xf0000001;
  Process& maker_ = image(1, 100, 1500, FATHOM_ATTACH_PRELOAD);
  Process& init_ = image(2, 107, 2000, FATHOM_ATTACH_FORK);
  Process& child_ = image(3, 108, 2500, FATHOM_ATTACH_PRELOAD);
};

TEST_F(Namespaces, AWaitIsForWhomItsTellerMeans) {
  image(4, 2, 1200, FATHOM_ATTACH_PRELOAD);  // the run's own 2
  waited(init_, 3000, 2, 5);
  waited(maker_, 3500, 107, 6);
  EXPECT_EQ(of(child_).exit, 5);
  EXPECT_EQ(of(child_).end, 2000);
  EXPECT_EQ(of(init_).exit, 6);
  EXPECT_EQ(of(*definitions_.find(4)).exit, kNull);
}

TEST_F(Namespaces, ParentsAreThoseOfTheRun) {
  Process& program = image(5, 107, 2200, FATHOM_ATTACH_PRELOAD);  // what the first became
  inside(program, 1, kSpace);
  Process& orphan = image(6, 109, 2600, FATHOM_ATTACH_PRELOAD);
  inside(orphan, 3, kSpace);
  orphan.ppid = 9;  // who was not recorded
  maker_.ppid = 50;
  const PidIndex index(definitions_);
  EXPECT_EQ(index.parent_pid(maker_), 50);
  EXPECT_EQ(index.parent_pid(init_), 100);
  EXPECT_EQ(index.parent_pid(program), 100) << "its own word is 0: the parent is outside";
  EXPECT_EQ(index.parent_pid(child_), 107);
  EXPECT_EQ(index.parent_pid(orphan), kNull);
}

// The number that the child has in its parent's namespace is told by nobody.
TEST_F(Namespaces, TheOnlyChildBeneathIsMeant) {
  Process& deeper = image(5, 120, 2700, FATHOM_ATTACH_FORK);
  deeper.parent_key = child_.key;
  inside(deeper, 1, 0xf0000002);
  waited(child_, 3000, 3, 7);
  EXPECT_EQ(of(deeper).exit, 7);
  Process& another = image(6, 121, 2800, FATHOM_ATTACH_FORK);
  another.parent_key = child_.key;
  inside(another, 2, 0xf0000002);
  EXPECT_EQ(of(deeper).exit, kNull) << "either may be";
}

TEST_F(Namespaces, ASpawnIsOfWhomItsTellerMeans) {
  exec(init_, 2400, 2);
  EXPECT_EQ(of(child_).start, 1400) << "when its parent started it";
  const PidIndex index(definitions_);
  EXPECT_TRUE(index.attached_after(init_, init_.notes[0]));
}

}  // namespace
}  // namespace fathom::trace
