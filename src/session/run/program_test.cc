// SPDX-License-Identifier: MIT
#include "session/run/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace fathom::session {
namespace {

class Program : public ::testing::Test {
 protected:
  Program() {
    std::string name = ::testing::TempDir() + "program-XXXXXX";
    root_ = mkdtemp(name.data());
    if (const char* path = std::getenv("PATH")) path_ = path;
  }
  ~Program() override {
    setenv("PATH", path_.c_str(), 1);
    (void)remove_tree(root_).has_value();
  }
  std::string file(const std::string& name, const std::string& text, mode_t mode) const {
    std::string path = join_path(root_, name);
    EXPECT_TRUE(write_file_atomic(path, text, mode));
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }
  std::string root_;
  std::string path_;
};

// Each in a process of its own: signal masks and children belong to the process.
int run_to_end(const ProgramSpec& spec) {
  Result<SignalQueue> signals = SignalQueue::open();
  if (!signals) return -1;
  const Result<pid_t> program = start_program(spec, *signals);
  if (!program) return -shell_status(program.error());
  supervise(*program, *signals, [] {});
  const int status = reap(*program).status;
  signals->release();
  return status;
}

ProgramSpec shell(const std::string& script) {
  return {.path = "/bin/sh",
          .words = {"sh", "-c", script},
          .environment = {"DEEP=6", "PATH=/usr/bin:/bin"}};
}

TEST_F(Program, IsFoundAsAShellFindsIt) {
  const std::string good = file("good", "#!/bin/sh\n", 0755);
  const std::string plain = file("plain", "x", 0644);
  setenv("PATH", (std::string("/nowhere:") + root_).c_str(), 1);
  EXPECT_EQ(find_program("good").value(), good);
  EXPECT_EQ(find_program(good).value(), good);
  struct Case {
    std::string word;
    int status;
  };
  const Case cases[] = {{"plain", 126}, {plain, 126}, {root_, 126},      {"/dev/null", 126},
                        {"none", 127},  {"", 127},    {"/no/such", 127}, {good + "/x", 127}};
  for (const Case& c : cases) {
    const Result<std::string> found = find_program(c.word);
    ASSERT_FALSE(found) << c.word;
    EXPECT_EQ(shell_status(found.error()), c.status) << c.word;
  }
}

TEST_F(Program, IsFoundFromAnotherFolder) {
  const std::string good = file("good", "#!/bin/sh\n", 0755);
  setenv("PATH", "/nowhere", 1);
  EXPECT_EQ(find_program("./good", "/nowhere", root_).value(), join_path(root_, "./good"));
  EXPECT_EQ(find_program("good", "/nowhere:.", root_).value(), join_path(root_, "./good"));
  EXPECT_EQ(find_program("good", root_, "/").value(), good);
  EXPECT_EQ(find_program(good, "", "/").value(), good);
  EXPECT_FALSE(find_program("good", "/nowhere", root_));
}

TEST_F(Program, StatusAndEnvironmentAreItsOwn) {
  EXPECT_EQ(run_to_end(shell("exit 7")), 7);
  EXPECT_EQ(run_to_end(shell("exit $DEEP")), 6);
  EXPECT_EQ(run_to_end(shell("kill -KILL $$")), 137);
}

TEST_F(Program, AScriptWithoutFirstLineRuns) {
  const std::string script = file("script", "exit 9\n", 0755);
  EXPECT_EQ(run_to_end({.path = script, .words = {"script"}, .environment = {}}), 9);
}

TEST_F(Program, AMissingInterpreterIsTold) {
  const std::string script = file("script", "#!/no/such/interpreter\n", 0755);
  EXPECT_EQ(run_to_end({.path = script, .words = {"script"}, .environment = {}}), -126);
}

TEST_F(Program, SignalMaskIsAsBefore) {
  // SigBlk of a program that blocks nothing is all zeros.
  EXPECT_EQ(run_to_end(shell("grep -q '^SigBlk:.0000000000000000$' /proc/self/status")), 0);
  EXPECT_EQ(run_to_end(shell("grep -q '^SigIgn:.0000000000000000$' /proc/self/status")), 0);
}

TEST_F(Program, HasTheDescriptorsOfItsCallerAlone) {
  const std::string count = "exit $(ls /proc/self/fd | wc -l)";
  const int before = std::system(count.c_str());
  const Fd own(fcntl(1, F_DUPFD_CLOEXEC, 77));
  ASSERT_TRUE(own.valid());
  EXPECT_EQ(run_to_end(shell(count)), WEXITSTATUS(before));
}

TEST_F(Program, SignalsOfOthersReachIt) {
  const std::string ready = join_path(root_, "ready");
  const pid_t recorder = fork();
  if (recorder == 0) {
    const std::string script =
        "trap 'exit 5' TERM; : > " + ready + "; while :; do sleep 0.05; done";
    _exit(run_to_end(shell(script)));
  }
  while (!path_exists(ready)) usleep(1000);
  kill(recorder, SIGTERM);
  EXPECT_EQ(reap(recorder).status, 5);
}

}  // namespace
}  // namespace fathom::session
