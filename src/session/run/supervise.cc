// SPDX-License-Identifier: MIT
// The half of program.h that deals with a program that runs: signals that come to us are passed on
// to it, job control stops us when it stops, and its end is seen before it is reaped, so that /proc
// can still be read.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "session/run/program.h"
#include "session/signal_policy.h"
#include "session/stopped.h"

namespace fathom::session {
namespace {

constexpr int kTickMs = 100;

bool has_terminal() { return Fd(open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)).valid(); }

// The shell waits for us, not for the program: when job control stops the program, the shell must
// see us stop too. Where there is no terminal, whoever stopped the program will look after it.
void stop_with(pid_t program) {
  siginfo_t info{};
  const int found = waitid(P_PID, static_cast<id_t>(program), &info, WSTOPPED | WNOHANG);
  if (found != 0 || info.si_pid == 0 || info.si_code != CLD_STOPPED || !has_terminal()) return;
  usleep(20'000);  // Ctrl-Z stops us by itself, and what we read now may be over already
  if (is_stopped(program)) SignalQueue::stop_by(SIGSTOP);
}

bool is_waiting(int number) {
  sigset_t waiting;
  sigemptyset(&waiting);
  sigpending(&waiting);
  return sigismember(&waiting, number) == 1;
}

// The program first: one that handles the signal takes its time. A SIGCONT that has come since ends
// the stop before it began.
void stop_after(pid_t program, int number) {
  constexpr int kLooks = 20;
  for (int look = 0; look < kLooks && !is_stopped(program) && !is_waiting(SIGCONT); ++look)
    usleep(10'000);
  if (!is_waiting(SIGCONT)) SignalQueue::stop_by(number);
}

// Whoever goes on with us alone means the program. If its group was meant, it goes on by itself.
bool must_go_on(pid_t program, const ReceivedSignal& signal) {
  return signal.number == SIGCONT && is_stopped(program);
}

void pass_on(pid_t program, const ReceivedSignal& signal) {
  if (signal.code == SI_QUEUE) {
    sigqueue(program, signal.number, signal.value);
  } else {
    kill(program, signal.number);
  }
}

std::vector<ReceivedSignal> take_all(SignalQueue& signals) {
  std::vector<ReceivedSignal> taken;
  siginfo_t info;
  while (signals.next(info)) {
    if (is_forwarded(info.si_signo)) {
      taken.push_back({.number = info.si_signo,
                       .code = info.si_code,
                       .sender = info.si_pid,
                       .value = info.si_value});
    }
  }
  return taken;
}

// The last round finds nothing: no witness holds a signal then that was ours already.
void forward_signals(pid_t program, SignalQueue& signals) {
  if (!signals.has_forwarded()) return;
  int stop = 0;
  for (std::vector<ReceivedSignal> own{{}}; !own.empty();) {
    const std::vector<int> of_group = signals.witness().ask([&] { own = take_all(signals); });
    for (ReceivedSignal& signal : own) {
      signal.to_group = std::ranges::find(of_group, signal.number) != of_group.end();
      if (should_forward(signal, program, getpid()) || must_go_on(program, signal))
        pass_on(program, signal);
      if (asks_to_stop(signal.number) || signal.number == SIGCONT)
        stop = signal.number == SIGCONT ? 0 : signal.number;
    }
  }
  if (stop != 0) stop_after(program, stop);
}

bool has_ended(pid_t program) {
  siginfo_t info{};
  const int found = waitid(P_PID, static_cast<id_t>(program), &info, WEXITED | WNOHANG | WNOWAIT);
  return found != 0 || info.si_pid == program;
}

}  // namespace

std::int64_t supervise(pid_t program, SignalQueue& signals, const std::function<void()>& tick) {
  while (!has_ended(program)) {
    pollfd waiting{signals.fd(), POLLIN, 0};
    poll(&waiting, 1, kTickMs);
    forward_signals(program, signals);
    stop_with(program);
    tick();
  }
  const std::int64_t end_ns = now_monotonic_ns();
  signals.witness().stop();
  return end_ns;
}

Ending reap(pid_t program) {
  siginfo_t info{};
  rusage usage{};
  // libc's waitid has no room for the usage, which the kernel's gives.
  while (syscall(SYS_waitid, P_PID, program, &info, WEXITED, &usage) != 0) {
    if (errno != EINTR) return {.status = 127};
  }
  return {.status = exit_status_of(info.si_code, info.si_status),
          .signal = info.si_code == CLD_EXITED ? 0 : info.si_status,
          .usage = usage};
}

void end_by(int signal) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_DUMPABLE, 0);  // a core that goes to a program knows no limit
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  sigaction(signal, &plain, nullptr);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  raise(signal);
}

}  // namespace fathom::session
