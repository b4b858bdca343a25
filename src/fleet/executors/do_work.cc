// SPDX-License-Identifier: MIT
// The worker: this program, on the machine that does the work. A child of it tells that somebody is
// at work, and ends what takes too long: the worker itself only waits for the program.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

#include "base/clock.h"
#include "base/files.h"
#include "base/host.h"
#include "base/os_error.h"
#include "base/own_file.h"
#include "base/private_files.h"
#include "fleet/executors/work_place.h"
#include "session/run/program.h"
#include "session/stat/measure.h"

namespace fathom::fleet {
namespace {

void beat(const std::string& place, std::int64_t number) {
  (void)write_private_atomic(join_path(place, "beat"), std::to_string(number) + "\n");
}

// First politely, then the whole group, which is the worker's, too.
void end_for_time(const std::string& place, pid_t worker) {
  constexpr unsigned kGrace = 5;
  (void)write_private_atomic(join_path(place, "timed_out"), "");
  kill(worker, SIGTERM);
  sleep(kGrace);
  kill(-getpgrp(), SIGKILL);
}

// A program whose worker is gone would work for nobody.
[[noreturn]] void tell_of_work(const std::string& place, std::int64_t timeout_ns, pid_t worker) {
  prctl(PR_SET_PDEATHSIG, 0);
  prctl(PR_SET_NAME, "fathom-beat");
  const std::int64_t begin = now_monotonic_ns();
  for (std::int64_t number = 1; getppid() == worker; ++number) {
    beat(place, number);
    if (timeout_ns > 0 && now_monotonic_ns() - begin >= timeout_ns) end_for_time(place, worker);
    sleep(1);
  }
  kill(-getpgrp(), SIGKILL);
  _exit(0);
}

// Ends with the work: a beat that went on would say that somebody is at it.
class Teller {
 public:
  Teller(const std::string& place, std::int64_t timeout_ns) {
    const pid_t worker = getpid();
    pid_ = fork();
    if (pid_ == 0) tell_of_work(place, timeout_ns, worker);
  }
  Teller(const Teller&) = delete;
  Teller& operator=(const Teller&) = delete;
  ~Teller() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

 private:
  pid_t pid_ = -1;
};

// Appended: two streams write into one file, and so may what the program starts.
Status redirect_to_log(const std::string& place) {
  FATHOM_ASSIGN(const File log, open_private(join_path(place, "log"), O_WRONLY | O_APPEND));
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    if (dup2(log.fd(), stream) < 0) return os_error(errno, "write to " + log.path());
  }
  return {};
}

Status enter(const Work& work) {
  for (const auto& [name, value] : work.environment) setenv(name.c_str(), value.c_str(), 1);
  setenv("FATHOM_WORK_DIR", work.place.c_str(), 1);
  const std::string& directory = work.directory.empty() ? work.place : work.directory;
  if (chdir(directory.c_str()) != 0) return os_error(errno, "change to " + directory);
  return {};
}

// What a shell would say of a program that cannot be run.
WorkOutcome refused(const Error& error) {
  dprintf(STDERR_FILENO, "fathom: %s\n", error.message.c_str());
  WorkOutcome outcome;
  outcome.exit = session::shell_status(error);
  return outcome;
}

Result<WorkOutcome> measured(const Work& work) {
  FATHOM_ASSIGN(session::SignalQueue signals, session::SignalQueue::open());
  const Result<session::Measured> run = session::measure({work.command, {}, {}, false}, signals);
  if (!run) return refused(run.error());
  WorkOutcome outcome;
  outcome.exit = run->exit.value_or(1);
  outcome.wall = run->wall;
  outcome.user = run->user;
  outcome.system = run->system;
  outcome.max_rss = run->max_rss;
  return outcome;
}

}  // namespace

Result<int> do_work(const std::string& place) {
  FATHOM_ASSIGN(const Work work, read_work(place));
  (void)setpgid(0, 0);               // refused where we lead a session, and then there is a group
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // whoever wanted this is gone
  FATHOM_TRY(redirect_to_log(place));
  WorkOutcome outcome;
  {
    const Teller teller(place, work.timeout_ns);
    if (const Status entered = enter(work); !entered) {
      outcome = refused(entered.error());
    } else {
      FATHOM_ASSIGN(outcome, measured(work));
    }
  }
  const char* const node = std::getenv("SLURMD_NODENAME");
  outcome.host = node != nullptr ? node : this_host().hostname;
  outcome.timed_out = path_exists(join_path(place, "timed_out"));
  FATHOM_TRY(write_outcome(place, outcome));
  return outcome.exit;
}

}  // namespace fathom::fleet
