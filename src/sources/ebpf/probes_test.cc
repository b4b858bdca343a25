// SPDX-License-Identifier: MIT
// Against the kernel that runs here; skipped where it takes no programs of ours.
#include "sources/ebpf/probes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <map>
#include <string>
#include <thread>

#include "sources/ebpf/record_paths.h"
#include "sources/ebpf/rows.h"

namespace fathom::sources::ebpf {
namespace {

constexpr int kReads = 3000;

// dd, which reads a byte from /dev/zero kReads times; nobody takes what the kernel gives meanwhile.
void run_dd(Probes& probes) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    char word = 0;
    const std::string count = "count=" + std::to_string(kReads);
    if (read(ends[0], &word, 1) == 1)
      execlp("dd", "dd", "if=/dev/zero", "of=/dev/null", "bs=1", count.c_str(), "status=none",
             nullptr);
    _exit(127);
  }
  const Status adopted = probes.adopt(child);
  EXPECT_TRUE(adopted.has_value());
  EXPECT_EQ(write(ends[1], "", 1), 1);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  close(ends[0]);
  close(ends[1]);
}

struct Taken {
  std::uint64_t added_up = 0;  // reads of /dev/zero
  std::uint64_t spilled = 0;
  std::uint64_t calls = 0;   // of any kind, in sums or spilled
  std::uint64_t single = 0;  // of any kind, one by one
  std::vector<std::uint64_t> losses;
};

Taken take(Probes& probes) {
  Taken taken;
  std::map<std::uint32_t, std::string> files;
  std::vector<fathom_call_record> spilled;
  const std::vector<SumOfCalls> sums = probes.take_sums(~0U);
  probes.take_records([&](std::span<const std::byte> bytes) {
    std::uint32_t kind = 0;
    std::memcpy(&kind, bytes.data(), sizeof kind);
    if (kind == FATHOM_RECORD_CALL) taken.single++;
    if (kind == FATHOM_RECORD_FILE) {
      fathom_file_record file{};
      std::memcpy(&file, bytes.data(), std::min(bytes.size(), sizeof file));
      files[file.id] = path_of(file);
    }
    if (kind == FATHOM_RECORD_SUM) {
      fathom_call_record call{};
      std::memcpy(&call, bytes.data(), std::min(bytes.size(), sizeof call));
      spilled.push_back(call);
    }
  });
  const auto is_read = [&](std::uint32_t call, std::uint32_t file) {
    return call == SYS_read && files[file] == "/dev/zero";
  };
  for (const SumOfCalls& one : sums) {
    taken.calls += one.sums.calls;
    if (is_read(one.key.call, one.key.file)) taken.added_up += one.sums.calls;
  }
  for (const fathom_call_record& call : spilled) {
    taken.calls++;
    if (is_read(call.call, call.file)) taken.spilled++;
  }
  taken.losses = probes.losses();
  return taken;
}

// With all that this kernel has, and without what older ones lack.
class ProbesTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    setenv("FATHOM_KERNEL_WITHOUT", GetParam(), 1);
    const Trial trial = try_layer(FATHOM_BPF_SYSCALL);
    if (trial.outcome == Trial::Outcome::kRefused || trial.outcome == Trial::Outcome::kMissing)
      GTEST_SKIP() << trial.reason;
  }
  void TearDown() override { unsetenv("FATHOM_KERNEL_WITHOUT"); }

  static Taken run(const ProbeOptions& options) {
    Result<Probes> probes = Probes::load(options);
    EXPECT_TRUE(probes) << probes.error().message;
    if (!probes) return {};
    run_dd(*probes);
    probes->detach();
    return take(*probes);
  }
};

INSTANTIATE_TEST_SUITE_P(Rungs, ProbesTest, ::testing::Values("", "typed"));

TEST_P(ProbesTest, TellsItsHooks) {
  Result<Probes> probes = Probes::load({.layers = {FATHOM_BPF_SYSCALL}});
  ASSERT_TRUE(probes) << probes.error().message;
  const std::string hooks = probes->hooks()["kernel.hooks"];
  if (std::string_view(GetParam()) == "typed") {
    EXPECT_EQ(hooks, "raw tracepoints");
  }
  EXPECT_NE(hooks, "");
}

TEST_P(ProbesTest, CountsEveryCall) {
  const Taken taken = run({.layers = {FATHOM_BPF_SYSCALL}});
  EXPECT_EQ(taken.added_up, static_cast<std::uint64_t>(kReads));
  EXPECT_EQ(taken.spilled, 0U);
  EXPECT_EQ(taken.single, 0U);
  for (const std::uint64_t lost : taken.losses) EXPECT_EQ(lost, 0U);
}

TEST_P(ProbesTest, InDetailEveryCallIsThereOrCountedAsLost) {
  const Taken whole = run({.layers = {FATHOM_BPF_SYSCALL}, .detail = 1U << FATHOM_BPF_SYSCALL});
  EXPECT_EQ(whole.single, whole.calls);
  const Taken cut = run(
      {.layers = {FATHOM_BPF_SYSCALL}, .detail = 1U << FATHOM_BPF_SYSCALL, .ring_bytes = 65536});
  EXPECT_GT(cut.losses[FATHOM_LOST_CALL], 0U);
  EXPECT_EQ(cut.single + cut.losses[FATHOM_LOST_CALL], cut.calls);
  EXPECT_EQ(cut.added_up, static_cast<std::uint64_t>(kReads));
}

// dd reads kReads times and is one process; nobody else is counted.
TEST_P(ProbesTest, TracepointsByName) {
  const Trial trial = try_layer(FATHOM_BPF_KERNEL);
  if (trial.reason.find("tracepoints") != std::string::npos) GTEST_SKIP() << trial.reason;
  ProbeOptions options{.layers = {FATHOM_BPF_KERNEL, FATHOM_BPF_SYSCALL}};
  for (const char* name : {"sched_process_exit", "sys_enter"})
    options.functions.push_back(
        {.file = std::string(kTracepointFile), .name = name, .times = Times::kUnknown});
  Result<Probes> probes = Probes::load(options);
  ASSERT_TRUE(probes) << probes.error().message;
  EXPECT_TRUE(probes->unprobed().empty());
  run_dd(*probes);
  probes->detach();
  std::map<std::uint32_t, std::uint64_t> points;
  std::uint64_t calls = 0;
  for (const SumOfCalls& one : probes->take_sums(~0U)) {
    // (When execve was entered, dd was not recorded yet.)
    if (FATHOM_BPF_LAYER_OF(one.key.call) == FATHOM_BPF_SYSCALL && one.key.call != SYS_execve)
      calls += one.sums.calls;
    if (FATHOM_BPF_LAYER_OF(one.key.call) == FATHOM_BPF_KERNEL)
      points[FATHOM_BPF_NUMBER_OF(one.key.call) & ~std::uint32_t{FATHOM_BPF_UNTIMED}] +=
          one.sums.calls;
  }
  EXPECT_EQ(points, (std::map<std::uint32_t, std::uint64_t>{{0, 1}, {1, calls}}));
  EXPECT_GT(calls, static_cast<std::uint64_t>(kReads));
}

TEST_P(ProbesTest, WhoWaitsIsWokenWhereAProcessBegins) {
  constexpr int kPatienceMs = 20'000;
  Result<Probes> probes = Probes::load({.layers = {FATHOM_BPF_SYSCALL}});
  ASSERT_TRUE(probes) << probes.error().message;
  probes->take_records([](std::span<const std::byte>) {});
  int woken = -1;
  std::jthread waits([&] {
    pollfd records{probes->records_fd(), POLLIN, 0};
    woken = poll(&records, 1, kPatienceMs);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  run_dd(*probes);
  waits.join();
  EXPECT_EQ(woken, 1);
}

TEST_P(ProbesTest, WhatFindsNoRowIsSpilled) {
  const Taken taken = run({.layers = {FATHOM_BPF_SYSCALL}, .rows = 4});
  EXPECT_GT(taken.spilled, 0U);
  EXPECT_EQ(taken.added_up + taken.spilled, static_cast<std::uint64_t>(kReads));
  const Taken cut = run({.layers = {FATHOM_BPF_SYSCALL}, .ring_bytes = 65536, .rows = 4});
  EXPECT_GT(cut.losses[FATHOM_LOST_SUM], 0U);
  EXPECT_EQ(taken.calls, cut.calls + cut.losses[FATHOM_LOST_SUM]);
}

std::uint64_t count_of(const Taken& taken, fathom_bpf_loss what) {
  return taken.losses[FATHOM_BPF_COUNTER(FATHOM_BPF_SYSCALL, what)];
}

Filters filters(const std::vector<std::string>& texts) {
  const Result<Filters> read = read_filters(texts, {FATHOM_BPF_SYSCALL});
  EXPECT_TRUE(read) << read.error().message;
  return read ? *read : Filters();
}

// Whatever a filter leaves out is counted: nothing goes missing.
TEST_P(ProbesTest, FiltersSayWhatTheyLeaveOut) {
  const Taken all = run({.layers = {FATHOM_BPF_SYSCALL}});
  const std::uint32_t detail = 1U << FATHOM_BPF_SYSCALL;
  const Taken calls =
      run({.layers = {FATHOM_BPF_SYSCALL}, .filters = filters({"call=rea?"}), .detail = detail});
  EXPECT_EQ(calls.added_up, static_cast<std::uint64_t>(kReads));
  EXPECT_EQ(calls.single, calls.calls);
  EXPECT_GT(count_of(calls, FATHOM_LEFT_CALL), static_cast<std::uint64_t>(kReads));  // writes
  EXPECT_EQ(calls.calls + count_of(calls, FATHOM_LEFT_CALL), all.calls);

  const Taken paths = run({.layers = {FATHOM_BPF_SYSCALL}, .filters = filters({"path=/dev/zero"})});
  EXPECT_EQ(paths.added_up, static_cast<std::uint64_t>(kReads));
  EXPECT_EQ(paths.calls + count_of(paths, FATHOM_LEFT_PATH), all.calls);
  EXPECT_LT(paths.calls, static_cast<std::uint64_t>(kReads) + 10);  // open and close, too

  const Taken below = run({.layers = {FATHOM_BPF_SYSCALL}, .filters = filters({"path=/dev"})});
  EXPECT_EQ(below.added_up, static_cast<std::uint64_t>(kReads));
  EXPECT_GT(below.calls, 2 * static_cast<std::uint64_t>(kReads));

  const Taken slow = run({.layers = {FATHOM_BPF_SYSCALL}, .filters = filters({"min=1h"})});
  EXPECT_EQ(slow.calls, 0U);
  EXPECT_EQ(count_of(slow, FATHOM_LEFT_SHORT), all.calls);

  const Taken some = run({.layers = {FATHOM_BPF_SYSCALL}, .filters = filters({"one-in=10"})});
  EXPECT_EQ(some.calls + count_of(some, FATHOM_LEFT_CHANCE), all.calls);
  EXPECT_GT(some.calls, all.calls / 20);
  EXPECT_LT(some.calls, all.calls / 5);
}

// The least CPU time of some times that sums are taken.
std::int64_t least_to_take(Probes& probes, std::uint32_t before_interval) {
  std::int64_t least = INT64_MAX;
  for (int i = 0; i < 5; ++i) {
    timespec begin{};
    timespec end{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    EXPECT_TRUE(probes.take_sums(before_interval).empty());
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    least =
        std::min(least, (end.tv_sec - begin.tv_sec) * 1'000'000'000 + end.tv_nsec - begin.tv_nsec);
  }
  return least;
}

// A daemon at rest asks each second. Rows that have to stay are found later all the same.
TEST_P(ProbesTest, WhereNothingCameNothingIsLookedThrough) {
  Result<Probes> probes = Probes::load({.layers = {FATHOM_BPF_SYSCALL}});
  ASSERT_TRUE(probes) << probes.error().message;
  run_dd(*probes);
  EXPECT_FALSE(probes->take_sums(~0U).empty());
  const std::int64_t at_rest = least_to_take(*probes, ~0U);
  run_dd(*probes);
  const std::int64_t with_rows = least_to_take(*probes, 0);
  EXPECT_LT(at_rest * 4, with_rows);
  EXPECT_FALSE(probes->take_sums(~0U).empty());
}

TEST_P(ProbesTest, FilesThatAreNotMetAreForgotten) {
  Result<Probes> probes = Probes::load({.layers = {FATHOM_BPF_SYSCALL}});
  ASSERT_TRUE(probes) << probes.error().message;
  run_dd(*probes);
  EXPECT_EQ(take(*probes).added_up, static_cast<std::uint64_t>(kReads));
  EXPECT_TRUE(probes->age_files(2).empty());
  run_dd(*probes);  // its files have their numbers already, and no path comes again
  EXPECT_EQ(take(*probes).added_up, 0U);
  EXPECT_TRUE(probes->age_files(2).empty());
  EXPECT_TRUE(probes->age_files(2).empty());
  EXPECT_GT(probes->age_files(2).size(), 3U);
  EXPECT_TRUE(probes->age_files(2).empty());
  run_dd(*probes);
  const Taken again = take(*probes);
  EXPECT_EQ(again.added_up, static_cast<std::uint64_t>(kReads));
  EXPECT_EQ(again.losses, std::vector<std::uint64_t>(again.losses.size()));
}

TEST_P(ProbesTest, MeasuringLeavesNothingBehind) {
  Result<Probes> probes = Probes::load(
      {.layers = {FATHOM_BPF_SYSCALL}, .filters = filters({"call=read"}), .detail = 1});
  ASSERT_TRUE(probes) << probes.error().message;
  const Costs costs = probes->measure();
  ASSERT_TRUE(costs.system_call.has_value());
  EXPECT_GT(costs.system_call->added_ns, 0);
  EXPECT_GT(costs.system_call->shown_ns, 0);
  EXPECT_FALSE(costs.function.has_value());
  const Taken taken = take(*probes);
  EXPECT_EQ(taken.calls + taken.single, 0U);
  for (const std::uint64_t count : taken.losses) EXPECT_EQ(count, 0U);
}

// A process of two threads that is there before us. Each time that it is told to, both ask for
// their parent kReads times.
class Older {
 public:
  Older() {
    EXPECT_EQ(pipe2(orders_, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(answers_, O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ != 0) return;
    close(orders_[1]);
    std::thread other([this] { obey(); });
    obey();
    other.join();
    _exit(0);
  }
  ~Older() {
    for (const int fd : {orders_[0], orders_[1], answers_[0], answers_[1]}) close(fd);
    waitpid(pid_, nullptr, 0);
  }
  Older(const Older&) = delete;
  Older& operator=(const Older&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] fathom_choice choice() const {
    fathom_choice choice{};
    choice.by = FATHOM_CHOICE_PROCESS;
    choice.process = static_cast<std::uint32_t>(pid_);
    return choice;
  }
  void work() {
    char word[2] = {};
    EXPECT_EQ(write(orders_[1], word, 2), 2);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(read(answers_[0], word, 1), 1);
  }

 private:
  void obey() {
    char word = 0;
    while (read(orders_[0], &word, 1) == 1) {
      for (int i = 0; i < kReads; ++i) syscall(SYS_getppid);
      if (write(answers_[1], &word, 1) != 1) _exit(1);
      usleep(1000);  // the other one's turn
    }
  }
  int orders_[2]{}, answers_[2]{};
  pid_t pid_ = 0;
};

std::uint64_t questions(Probes& probes, pid_t process) {
  std::uint64_t calls = 0;
  for (const SumOfCalls& one : probes.take_sums(~0U)) {
    if (one.key.call == SYS_getppid && one.key.pid == static_cast<std::uint32_t>(process))
      calls += one.sums.calls;
  }
  return calls;
}

TEST_P(ProbesTest, ProcessesThatRunJoinWithAllThreadsAndLeave) {
  Older older;
  older.work();
  Result<Probes> probes = Probes::load({.layers = {FATHOM_BPF_SYSCALL}, .joins = true});
  ASSERT_TRUE(probes) << probes.error().message;
  older.work();
  EXPECT_EQ(questions(*probes, older.pid()), 0U);
  fathom_choice choice = older.choice();
  ASSERT_TRUE(probes->walk(choice));
  older.work();
  EXPECT_EQ(questions(*probes, older.pid()), 2U * kReads);
  std::uint64_t joined = 0;
  probes->take_records([&](std::span<const std::byte> bytes) {
    std::uint32_t kind = 0;
    std::memcpy(&kind, bytes.data(), sizeof kind);
    joined += kind == FATHOM_RECORD_JOIN ? 1 : 0;
  });
  EXPECT_EQ(joined, 2U);
  choice.leaves = 1;
  ASSERT_TRUE(probes->walk(choice));
  older.work();
  EXPECT_EQ(questions(*probes, older.pid()), 0U);
  choice = {};
  choice.by = FATHOM_CHOICE_ALL;
  ASSERT_TRUE(probes->walk(choice));
  older.work();
  EXPECT_EQ(questions(*probes, older.pid()), 2U * kReads);
}

}  // namespace
}  // namespace fathom::sources::ebpf
