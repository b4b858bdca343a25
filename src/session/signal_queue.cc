// SPDX-License-Identifier: MIT
// A signalfd in place of handlers: nothing runs in the middle of something else, and a program that
// is started gets the caller's mask and dispositions back unchanged.
#include "session/signal_queue.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <utility>

#include "base/os_error.h"
#include "base/own_limits.h"
#include "base/shared_view.h"
#include "session/signal_policy.h"

namespace fathom::session {
namespace {

sigset_t queued_signals() {
  sigset_t set = forwarded_signals();
  sigaddset(&set, SIGCHLD);
  return set;
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
  info.si_value.sival_ptr = reinterpret_cast<void*>(raw.ssi_ptr);  // NOLINT(*-no-int-to-ptr)
  told_to_end_ = told_to_end_ || asks_to_end(info.si_signo);
  return true;
}

bool SignalQueue::has_forwarded() {
  sigset_t waiting;
  sigemptyset(&waiting);
  sigpending(&waiting);
  // libc's sigisemptyset overlooks real-time signals in some versions.
  for (int number = 1; number <= SIGRTMAX; ++number) {
    if (sigismember(&waiting, number) == 1 && is_forwarded(number)) return true;
  }
  // Read by their numbers: next() could take a forwarded one that comes now.
  sigset_t others;
  sigemptyset(&others);
  sigaddset(&others, SIGCHLD);
  const timespec now{};
  while (sigtimedwait(&others, nullptr, &now) > 0) {
  }
  return false;
}

bool SignalQueue::told_to_end(int wait_ms) {
  pollfd waiting{fd_.get(), POLLIN, 0};
  if (wait_ms > 0) poll(&waiting, 1, wait_ms);
  siginfo_t info;
  bool told = false;
  while (next(info)) {
    told |= asks_to_end(info.si_signo);
    if (asks_to_stop(info.si_signo)) stop_by(info.si_signo);
  }
  return told;
}

void SignalQueue::stop_by(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  raise(number);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void SignalQueue::restore_in_child() const {
  restore_bus_signal();
  restore_size_signal();
  sigaction(SIGCHLD, &original_child_, nullptr);
  sigprocmask(SIG_SETMASK, &original_mask_, nullptr);
}

void SignalQueue::release() {
  siginfo_t info;
  while (next(info)) {
  }
  sigset_t set = forwarded_signals();
  // A reader of our stderr that went away must not change the exit status.
  sigdelset(&set, SIGPIPE);
  for (int number = 1; number <= SIGRTMAX; ++number) {
    if (sigismember(&original_mask_, number) == 1) sigdelset(&set, number);
  }
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace fathom::session
