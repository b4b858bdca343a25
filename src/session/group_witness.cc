// SPDX-License-Identifier: MIT
// Forked processes that do nothing but hold signals. A signal that waits swallows its like, so one
// process is not enough: what comes between our reading and its reading would be lost to it. Two
// change places. The second enters the group before we read, and the first leaves it afterwards:
// each sees at least all that came between two of our readings.
//
// setpgid takes the kernel's lock of all tasks for writing. Whoever signals a group holds it for
// reading, so no signal is half delivered when a sentry enters or leaves.
#include "session/group_witness.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "session/signal_policy.h"
#include "session/stopped.h"

namespace fathom::session {
namespace {

constexpr int kPatienceMs = 200;
constexpr std::size_t kMostSignals = 64;  // of each kind that is not real-time one waits at most

struct Answer {
  std::uint32_t count;
  std::int32_t signals[kMostSignals];
};

// What a sentry is made of; between fork and its end it allocates nothing.

void collect_signals(int queue, Answer& answer) {
  answer.count = 0;
  signalfd_siginfo info{};
  while (answer.count < kMostSignals &&
         read(queue, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    answer.signals[answer.count++] = static_cast<std::int32_t>(info.ssi_signo);
  }
}

// It holds nothing of its parent's but its line (no lock of a spool, no end of a pipe that somebody
// reads), no signal but SIGKILL and SIGSTOP does anything to it, and it ends with its parent.
[[noreturn]] void stand_guard(int line, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  prctl(PR_SET_NAME, "fathom-group");
  constexpr int kLine = 0;
  if (dup2(line, kLine) != kLine) _exit(1);
  closefrom(kLine + 1);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  const sigset_t forwarded = forwarded_signals();
  const int queue = signalfd(-1, &forwarded, SFD_NONBLOCK);
  Answer answer{};
  char question = 0;
  // The first answer says that it is there. (It does not wait in read(): an old kernel follows as
  // many of those to their return as it has CPUs, and layer vfs would see no others.)
  while (queue >= 0 && write(kLine, &answer, sizeof answer) == sizeof answer &&
         recv(kLine, &question, 1, 0) == 1) {
    collect_signals(queue, answer);
  }
  _exit(0);
}

// Where the whole group was stopped and we alone went on, the sentry goes on, too: it may stop at
// any moment until it has answered. (SIGCONT drops a SIGTSTP that waits: only who has stopped gets
// it.)
bool hear(int line, pid_t sentry, Answer& answer) {
  constexpr int kLookMs = 10;
  pollfd waiting{line, POLLIN, 0};
  int ready = 0;
  for (int waited = 0; ready != 1 && waited < kPatienceMs; waited += kLookMs) {
    if (is_stopped(sentry)) kill(sentry, SIGCONT);
    ready = poll(&waiting, 1, kLookMs);
  }
  return ready == 1 && recv(line, &answer, sizeof answer, 0) == static_cast<ssize_t>(sizeof answer);
}

}  // namespace

bool GroupWitness::Sentry::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
  line_.reset(ends[0]);
  const Fd other(ends[1]);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) stand_guard(other.get(), parent);
  Answer answer{};
  return pid_ > 0 && hear(line_.get(), pid_, answer);
}

// In order, since we may be recorded ourselves; by force where it does not end.
void GroupWitness::Sentry::stop() {
  if (pid_ > 0) {
    shutdown(line_.get(), SHUT_WR);
    Answer late{};
    while (hear(line_.get(), pid_, late)) {  // until its end is closed
    }
  }
  line_.reset();
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
}

bool GroupWitness::Sentry::enter(pid_t group) const { return setpgid(pid_, group) == 0; }

std::optional<std::vector<int>> GroupWitness::Sentry::relieve() {
  Answer answer{};
  if (send(line_.get(), "?", 1, MSG_NOSIGNAL) != 1 || !hear(line_.get(), pid_, answer)) return {};
  return std::vector<int>(answer.signals, answer.signals + answer.count);
}

void GroupWitness::start() {
  started_ = on_duty_.start() && off_duty_.start() && off_duty_.leave();
  if (!started_) stop();
}

void GroupWitness::stop() {
  on_duty_.stop();
  off_duty_.stop();
  started_ = false;
}

// A sentry that does not answer, or cannot change its group, is of no use any more; a late answer
// would be taken for that of the next question.
std::vector<int> GroupWitness::ask(const std::function<void()>& take) {
  // What was sent to every process there is reached the one apart, too.
  const bool changes = started_ && off_duty_.relieve() && off_duty_.enter(getpgrp());
  take();
  std::optional<std::vector<int>> got;
  if (changes && on_duty_.leave()) got = on_duty_.relieve();
  if (!got) {
    stop();
    return {};
  }
  std::swap(on_duty_, off_duty_);
  return *std::move(got);
}

}  // namespace fathom::session
