// SPDX-License-Identifier: MIT
// The half of program.h that deals with a program that runs: signals, stopping, its end.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <vector>

#include "base/os_error.h"
#include "base/shared_view.h"
#include "session/program.h"
#include "session/signal_policy.h"

namespace fathom::session {
namespace {

constexpr int kTickMs = 100;

sigset_t queued_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : kForwardedSignals) sigaddset(&set, number);
  sigaddset(&set, SIGCHLD);
  sigaddset(&set,
            SIGPIPE);  // a reader of our stderr that went away must not change the exit status
  return set;
}

bool has_terminal() { return Fd(open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)).valid(); }

// "T" in /proc: stopped now, whatever an earlier report said.
bool is_stopped(pid_t pid) {
  const Result<std::string> text = read_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t close = text ? text->rfind(") ") : std::string::npos;
  return close != std::string::npos && (*text)[close + 2] == 'T';
}

// The shell waits for us, not for the program: when job control stops the program, the shell must
// see us stop too. Where there is no terminal, whoever stopped the program will look after it.
void stop_with(pid_t program) {
  siginfo_t info{};
  const int found = waitid(P_PID, static_cast<id_t>(program), &info, WSTOPPED | WNOHANG);
  if (found != 0 || info.si_pid == 0 || info.si_code != CLD_STOPPED || !has_terminal()) return;
  usleep(20'000);  // Ctrl-Z stops us by itself, and what we read now may be over already
  if (!is_stopped(program)) return;
  raise(SIGSTOP);
  if (is_stopped(program)) kill(program, SIGCONT);
}

std::vector<ReceivedSignal> take_all(SignalQueue& signals) {
  std::vector<ReceivedSignal> taken;
  siginfo_t info;
  while (signals.next(info)) {
    if (is_forwarded(info.si_signo)) {
      taken.push_back({.number = info.si_signo, .code = info.si_code, .sender = info.si_pid});
    }
  }
  return taken;
}

// Whether the group got this one; what has been matched is used up.
bool take_match(std::vector<ReceivedSignal>& of_group, const ReceivedSignal& signal) {
  const auto found = std::ranges::find_if(of_group, [&](const ReceivedSignal& other) {
    return other.number == signal.number && other.sender == signal.sender;
  });
  if (found == of_group.end()) return false;
  of_group.erase(found);
  return true;
}

// Each round asks the witness about signals that were in our queue before. What else it saw is in
// our queue when it has answered, so that it is matched in the next round, or never: a signal that
// waits swallows its like.
void forward_signals(pid_t program, SignalQueue& signals) {
  std::vector<ReceivedSignal> of_group;
  for (std::vector<ReceivedSignal> own = take_all(signals); !own.empty();) {
    std::ranges::copy(signals.witness().ask(), std::back_inserter(of_group));
    std::vector<ReceivedSignal> later = take_all(signals);
    for (ReceivedSignal& signal : own) {
      signal.to_group = take_match(of_group, signal);
      if (should_forward(signal, program, getpid())) kill(program, signal.number);
    }
    own = std::move(later);
  }
}

bool has_ended(pid_t program) {
  siginfo_t info{};
  const int found = waitid(P_PID, static_cast<id_t>(program), &info, WEXITED | WNOHANG | WNOWAIT);
  return found != 0 || info.si_pid == program;
}

}  // namespace

Result<SignalQueue> SignalQueue::open() {
  const sigset_t set = queued_signals();
  Fd fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) return os_error(errno, "open a signalfd");
  SignalQueue queue(std::move(fd));
  // Where a caller ignores SIGCHLD the kernel would throw the program's status away.
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &plain, &queue.original_child_);
  pthread_sigmask(SIG_BLOCK, &set, &queue.original_mask_);
  return queue;
}

bool SignalQueue::next(siginfo_t& info) {
  signalfd_siginfo raw{};
  if (read(fd_.get(), &raw, sizeof raw) != static_cast<ssize_t>(sizeof raw)) return false;
  info = {};
  info.si_signo = static_cast<int>(raw.ssi_signo);
  info.si_code = raw.ssi_code;
  info.si_pid = static_cast<pid_t>(raw.ssi_pid);
  return true;
}

void SignalQueue::restore_in_child() const {
  restore_bus_signal();
  sigaction(SIGCHLD, &original_child_, nullptr);
  sigprocmask(SIG_SETMASK, &original_mask_, nullptr);
}

void SignalQueue::release() {
  siginfo_t info;
  while (next(info)) {
  }
  sigset_t set = queued_signals();
  sigdelset(&set, SIGCHLD);
  sigdelset(&set, SIGPIPE);
  for (const int number : kForwardedSignals) {
    if (sigismember(&original_mask_, number) == 1) sigdelset(&set, number);
  }
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void supervise(pid_t program, SignalQueue& signals, const std::function<void()>& tick) {
  while (!has_ended(program)) {
    pollfd waiting{signals.fd(), POLLIN, 0};
    poll(&waiting, 1, kTickMs);
    forward_signals(program, signals);
    stop_with(program);
    tick();
  }
  signals.witness().stop();
}

Ending reap(pid_t program) {
  siginfo_t info{};
  while (waitid(P_PID, static_cast<id_t>(program), &info, WEXITED) != 0) {
    if (errno != EINTR) return {.status = 127};
  }
  return {.status = exit_status_of(info.si_code, info.si_status),
          .signal = info.si_code == CLD_EXITED ? 0 : info.si_status};
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
