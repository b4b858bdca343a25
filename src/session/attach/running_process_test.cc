// SPDX-License-Identifier: MIT
#include "session/attach/running_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::session {
namespace {

TEST(RunningProcess, UntilItsEnd) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  const Result<RunningProcess> process = RunningProcess::open(child);
  ASSERT_TRUE(process) << process.error().message;
  EXPECT_EQ(process->pid(), child);
  EXPECT_FALSE(process->has_ended());
  EXPECT_FALSE(process->command().empty());
  ::kill(child, SIGKILL);
  siginfo_t how{};
  ::waitid(P_PID, static_cast<id_t>(child), &how, WEXITED | WNOWAIT);
  EXPECT_TRUE(process->has_ended());
  const Result<RunningProcess> zombie = RunningProcess::open(child);
  ASSERT_FALSE(zombie);
  EXPECT_EQ(zombie.error().code, Code::kNotFound);
  ::waitpid(child, nullptr, 0);
}

TEST(RunningProcess, NobodyAndOurselves) {
  const Result<RunningProcess> nobody = RunningProcess::open(0x7ffffff0);
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, Code::kNotFound);
  const Result<RunningProcess> self = RunningProcess::open(::getpid());
  ASSERT_FALSE(self);
  EXPECT_EQ(self.error().code, Code::kInvalid);
}

}  // namespace
}  // namespace fathom::session
