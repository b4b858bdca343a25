// SPDX-License-Identifier: MIT
#include "session/stat/measure.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/run/program.h"
#include "session/stat/stat.h"

namespace fathom::session {
namespace {

// In a process of its own: signal masks and children belong to the process.
template <class Body>
int apart(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  return reap(child).status;
}

Measurement shell(const std::string& script) {
  return {.words = {"sh", "-c", script},
          .events = perf::parse_events("task-clock").value(),
          .cpus = {},
          .needs_events = false};
}

Measured measured(const std::string& script) {
  Result<SignalQueue> signals = SignalQueue::open();
  Result<Measured> run = measure(shell(script), *signals);
  signals->release();
  return run ? std::move(run).value() : Measured();
}

TEST(Measure, StatusAndTimesAreThoseOfTheProgram) {
  EXPECT_EQ(apart([] {
              const Measured run = measured("sleep 0.05; exit 7");
              const bool timed = run.wall >= 0.05 && run.user + run.system < run.wall;
              const bool used = run.max_rss > 0 && run.tally && run.tally->minor_faults > 0;
              return run.exit == 7 && run.signal == 0 && timed && used ? 0 : 1;
            }),
            0);
  EXPECT_EQ(apart([] {
              const Measured run = measured("kill -9 $$");
              return run.exit == 137 && run.signal == 9 ? 0 : 1;
            }),
            0);
}

TEST(Measure, BytesOfDescendantsCount) {
  EXPECT_EQ(apart([] {
              const Measured run = measured("head -c 100000 /dev/zero > /dev/null");
              return run.io && run.io->written >= 100'000 && run.io->read >= 100'000 ? 0 : 1;
            }),
            0);
}

TEST(Measure, AProgramThatIsNotThereIsAnError) {
  EXPECT_EQ(apart([] {
              Result<SignalQueue> signals = SignalQueue::open();
              Measurement wanted = shell("");
              wanted.words = {"/no/such/program"};
              const Result<Measured> run = measure(wanted, *signals);
              return run ? 0 : shell_status(run.error());
            }),
            127);
}

StatOptions series(const std::string& script, std::int64_t runs) {
  StatOptions options;
  options.commands = {{"sh", "-c", script}};
  options.events = perf::parse_events("task-clock").value();
  options.runs = runs;
  return options;
}

TEST(Stat, StopsWhenItIsEnough) {
  EXPECT_EQ(apart([] {
              StatOptions options = series(":", 2);
              options.enough = [](const std::vector<std::vector<Measured>>& runs) {
                return runs[0].size() == 4;
              };
              const Result<StatOutcome> outcome = stat(options);
              return outcome ? static_cast<int>(outcome->runs[0].size()) : 100;
            }),
            4);
}

TEST(Stat, ABudgetThatIsSpentLeavesOneRunOfEach) {
  EXPECT_EQ(apart([] {
              StatOptions options = series(":", 50);
              options.commands.push_back(options.commands[0]);
              options.budget_ns = 1;
              const Result<StatOutcome> outcome = stat(options);
              return outcome->runs[0].size() == 1 && outcome->runs[1].size() == 1 ? 0 : 1;
            }),
            0);
}

TEST(Stat, TheFirstFailureIsTheStatus) {
  EXPECT_EQ(apart([] { return stat(series("exit 3", 5))->exit_status; }), 3);
  EXPECT_EQ(apart([] { return static_cast<int>(stat(series("exit 3", 5))->runs[0].size()); }), 1);
}

TEST(Stat, NoSuchProcess) {
  const pid_t gone = fork();
  if (gone == 0) _exit(0);
  waitpid(gone, nullptr, 0);
  EXPECT_EQ(apart([gone] {
              return stat_process(gone, perf::parse_events("task-clock").value()) ? 0 : 5;
            }),
            5);
}

}  // namespace
}  // namespace fathom::session
