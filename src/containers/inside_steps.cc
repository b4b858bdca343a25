// SPDX-License-Identifier: MIT
// One loop waits for children, signals and the clock. A shell could not do this: what it starts in
// the background ignores SIGINT, and while it waits for the foreground it hears nothing.
#include "containers/inside_steps.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "base/clock.h"
#include "base/os_error.h"
#include "containers/leftovers.h"

namespace fathom::containers {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

sigset_t set_of(std::initializer_list<int> numbers) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : numbers) sigaddset(&set, number);
  return set;
}

bool asks_to_end(int number) {
  return number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGQUIT;
}

// The terminal's signals reach the whole process group, and so the program, without us.
bool reached_us_alone(const siginfo_t& info) { return info.si_code <= 0; }

// What cannot be refused is for the program's whole tree; the recorder above it goes on.
void send(int signal, pid_t child) {
  if (signal != SIGKILL) {
    (void)::kill(child, signal);
    return;
  }
  for (const pid_t pid : descendants_of(child)) (void)::kill(pid, SIGKILL);
}

timespec time_until(std::int64_t when_ns) {
  std::int64_t left = kSecondNs;
  if (when_ns > 0) left = std::clamp(when_ns - now_monotonic_ns(), std::int64_t{0}, kSecondNs);
  return {.tv_sec = left / kSecondNs, .tv_nsec = left % kSecondNs};
}

}  // namespace

InsideSteps::InsideSteps()
    : taken_(set_of({SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD})) {
  std::signal(SIGCHLD, SIG_DFL);  // ended children must wait for us
  ::pthread_sigmask(SIG_BLOCK, &taken_, &original_);
}

Result<pid_t> InsideSteps::start(const std::function<int()>& work, const sigset_t& mask) {
  const pid_t child = ::fork();
  if (child < 0) return os_error(errno, "start a process");
  if (child == 0) {
    ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    ::_exit(work());
  }
  return child;
}

// Orphans of the container are children of its first process: nobody else can reap them.
bool InsideSteps::has_ended(pid_t child, StepEnd& end) {
  constexpr int kBySignal = 128;
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(-1, &status, WNOHANG)) > 0) {
    if (ended == helper_) helper_ = 0;
    if (ended != child) continue;
    end.status = WIFEXITED(status) ? WEXITSTATUS(status) : kBySignal + WTERMSIG(status);
    return true;
  }
  return ended < 0 && errno == ECHILD;
}

void InsideSteps::take_signal(const siginfo_t& info, pid_t child, StopSequence& stop) {
  constexpr std::size_t kAllButTheLast = 2;
  if (info.si_signo == SIGCHLD) return;
  told_to_end_ |= asks_to_end(info.si_signo);
  if (!reached_us_alone(info)) return;
  send(info.si_signo, child);
  if (info.si_signo == SIGTERM) stop.begun(now_monotonic_ns(), kAllButTheLast);
}

Result<StepEnd> InsideSteps::run_program(const std::function<int()>& work, const StepLimit& limit) {
  FATHOM_ASSIGN(const pid_t child, start(work, original_));
  StopSequence stop(limit.grace_ns);
  if (limit.after_ns > 0) stop.begin_at(now_monotonic_ns() + limit.after_ns);
  StepEnd end;
  while (!has_ended(child, end)) {
    siginfo_t info{};
    const timespec patience = time_until(stop.next_ns());
    if (::sigtimedwait(&taken_, &info, &patience) > 0) take_signal(info, child, stop);
    const int due = stop.due(now_monotonic_ns());
    if (due == SIGINT) end.timed_out = true;
    if (due != 0) send(due, child);
  }
  return end;
}

Status InsideSteps::run_writer(const std::function<int()>& work) {
  FATHOM_ASSIGN(const pid_t child, start(work, taken_));
  StepEnd end;
  while (!has_ended(child, end)) {
    siginfo_t info{};
    const timespec patience = time_until(0);
    if (::sigtimedwait(&taken_, &info, &patience) > 0) told_to_end_ |= asks_to_end(info.si_signo);
  }
  if (end.status == 0) return {};
  return Error{Code::kIo, "a result could not be written", ""};
}

Status InsideSteps::begin_helper(const std::function<int()>& work) {
  const auto until_we_end = [&work] {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    return work();
  };
  FATHOM_ASSIGN(helper_, start(until_we_end, taken_));
  return {};
}

void InsideSteps::end_helper() {
  if (helper_ == 0) return;
  (void)::kill(helper_, SIGKILL);
  (void)::waitpid(helper_, nullptr, 0);
  helper_ = 0;
}

}  // namespace fathom::containers
