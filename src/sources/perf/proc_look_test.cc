// SPDX-License-Identifier: MIT
#include "sources/perf/proc_look.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "base/files.h"

namespace fathom::sources {
namespace {

constexpr char kSleeps[] =
    " S 1 1 1 0 -1 0 0 0 0 0 9 16 0 0 20 0 1 0 100 1 1 1 1 1 99 0 0 0 0 0 0 0 0 0 17 1";
constexpr char kRuns[] =
    " R 1 1 1 0 -1 0 0 0 0 0 9 16 0 0 20 0 1 0 100 1 1 1 1 1 99 0 0 0 0 0 0 0 0 0 17 1";

class ProcLookTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    proc_ = ::testing::TempDir() + "proc_look_" + test->name();
    ASSERT_TRUE(remove_tree(proc_));
    ASSERT_TRUE(make_dirs(folder()));
  }
  void TearDown() override { (void)remove_tree(proc_).has_value(); }

  [[nodiscard]] std::string folder() const { return join_path(proc_, "41/task/42"); }
  void put(const char* name, const std::string& text) const {
    ASSERT_TRUE(write_file_atomic(join_path(folder(), name), text));
  }
  ThreadLook look() {
    ProcessStat stat;
    stat.pid = 41;
    const std::optional<ProcessLook> process = reader().look(stat);
    EXPECT_TRUE(process && process->threads.size() == 1);
    return process && !process->threads.empty() ? process->threads[0] : ThreadLook();
  }
  ProcReader& reader() {
    if (!reader_) reader_.emplace(proc_);
    return *reader_;
  }

  std::string proc_;
  std::optional<ProcReader> reader_;
};

TEST_F(ProcLookTest, ASleeperSaysWhere) {
  put("schedstat", "5000 70 3\n");
  put("stat", std::string("42 (a b)") + kSleeps);
  put("syscall",
      std::to_string(SYS_read) + " 0x3 0x0 0x0 0x0 0x0 0x0 0x7ffd10337328 0x7f0fc8e0c2ad\n");
  put("wchan", "pipe_read");
  const ThreadLook thread = look();
  EXPECT_EQ(thread.tid, 42);
  EXPECT_EQ(thread.name, "a b");
  EXPECT_EQ(thread.times.ran, 5000);
  EXPECT_EQ(thread.times.ready, 70);
  EXPECT_EQ(thread.cpu, 1);
  EXPECT_FALSE(thread.awake);
  EXPECT_EQ(thread.call, "read");
  EXPECT_EQ(thread.kernel_place, "pipe_read");
}

TEST_F(ProcLookTest, OneThatDidNotRunIsWhereItWas) {
  put("schedstat", "5000 70 3\n");
  put("stat", std::string("42 (a)") + kSleeps);
  put("wchan", "do_wait");
  EXPECT_EQ(look().kernel_place, "do_wait");
  put("wchan", "do_poll");
  EXPECT_EQ(look().kernel_place, "do_wait");
  put("schedstat", "5001 70 4\n");
  EXPECT_EQ(look().kernel_place, "do_poll");
}

TEST_F(ProcLookTest, OneThatIsAwakeIsLookedAtAgain) {
  put("schedstat", "5000 70 3\n");
  put("stat", std::string("42 (a)") + kRuns);
  put("wchan", "0");
  EXPECT_TRUE(look().awake);
  EXPECT_EQ(look().kernel_place, "");
  put("stat", std::string("42 (a)") + kSleeps);
  EXPECT_FALSE(look().awake);
}

TEST_F(ProcLookTest, ANumberOfAnotherTableHasNoName) {
  put("schedstat", "5000 70 3\n");
  put("stat", std::string("42 (a)") + kSleeps);
  put("syscall", "3 0x3 0x0 0x0 0x0 0x0 0x0 0xffd10328 0xf7c8e0c2\n");
  EXPECT_EQ(look().call, "");
}

TEST_F(ProcLookTest, WhoWaitsForANumberOfAThreadJoinsIt) {
  struct Case {
    const char* name;
    const char* arguments;  // word, operation, value
    const char* wanted;
  };
  const Case cases[] = {{"join", "0x7f00 0x109 0x2b", "pthread_join"},
                        {"a lock", "0x7f00 0x80 0x2", ""},
                        {"a condition whose count is the number", "0x7f00 0x189 0x2b", ""},
                        {"no such thread", "0x7f00 0x109 0x2c", ""},
                        {"itself", "0x7f00 0x109 0x2a", ""},
                        {"it wakes others", "0x7f00 0x1 0x2b", ""}};
  ASSERT_TRUE(make_dirs(join_path(proc_, "41/task/43")));
  put("stat", std::string("42 (a)") + kSleeps);
  int runs = 0;
  for (const Case& c : cases) {
    put("schedstat", std::to_string(++runs) + " 70 3\n");
    put("syscall", std::to_string(SYS_futex) + " " + c.arguments +
                       " 0x0 0x0 0x0 0x7ffd10337328 0x7f0fc8e0c2ad\n");
    EXPECT_EQ(look().user_place, c.wanted) << c.name;
  }
}

TEST_F(ProcLookTest, AKernelThatCountsNothingFinerTellsTicks) {
  put("stat", std::string("42 (a)") + kRuns);
  EXPECT_EQ(look().times.ran, 250'000'000);
  put("schedstat", "0 0 0\n");
  EXPECT_EQ(look().times.ran, 250'000'000);
}

TEST_F(ProcLookTest, AProcessThatIsGoneIsNothing) {
  ASSERT_TRUE(remove_tree(proc_));
  EXPECT_FALSE(reader().look(ProcessStat{}));
  EXPECT_EQ(reader().file_of(41), "");
  EXPECT_EQ(reader().command_of(41), "");
}

}  // namespace
}  // namespace fathom::sources
