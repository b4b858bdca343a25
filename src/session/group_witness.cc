// SPDX-License-Identifier: MIT
// A forked process that does nothing but hold signals. setpgid on itself acts as a barrier: it
// takes the kernel's lock for writing, so no group signal is half delivered then.
#include "session/group_witness.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace fathom::session {
namespace {

constexpr int kPatienceMs = 200;
constexpr std::size_t kMostSignals = 64;  // one of each waits at most

struct Answer {
  std::uint32_t count;
  struct {
    std::int32_t number, sender;
  } signals[kMostSignals];
};

// What the witness is made of; between fork and its end it allocates nothing.

sigset_t forwarded_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : kForwardedSignals) sigaddset(&set, number);
  return set;
}

void collect_signals(int queue, Answer& answer) {
  answer.count = 0;
  signalfd_siginfo info{};
  while (answer.count < kMostSignals &&
         read(queue, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    answer.signals[answer.count++] = {static_cast<std::int32_t>(info.ssi_signo),
                                      static_cast<std::int32_t>(info.ssi_pid)};
  }
}

// It holds nothing of its parent's but its line (no lock of a spool, no end of a pipe that somebody
// reads), no signal but SIGKILL and SIGSTOP does anything to it, and it ends with its parent.
[[noreturn]] void bear_witness(int line, pid_t parent) {
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
  // The first answer says that it is there.
  while (queue >= 0 && write(kLine, &answer, sizeof answer) == sizeof answer &&
         read(kLine, &question, 1) == 1) {
    collect_signals(queue, answer);
  }
  _exit(0);
}

bool hear(int line, Answer& answer) {
  pollfd waiting{line, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&waiting, 1, kPatienceMs);
  } while (ready < 0 && errno == EINTR);
  return ready == 1 && recv(line, &answer, sizeof answer, 0) == static_cast<ssize_t>(sizeof answer);
}

// Returns when nobody is in the middle of signalling a group. The kernel does that with its lock of
// all tasks held for reading; setpgid takes the same lock for writing, and changes nothing here.
void wait_for_senders() { (void)setpgid(0, getpgrp()); }

}  // namespace

void GroupWitness::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
  line_.reset(ends[0]);
  const Fd other(ends[1]);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) bear_witness(other.get(), parent);
  Answer answer{};
  if (pid_ < 0 || !hear(line_.get(), answer)) stop();
}

void GroupWitness::stop() {
  line_.reset();
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);  // it may have been stopped
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
}

std::vector<ReceivedSignal> GroupWitness::ask() {
  std::vector<ReceivedSignal> signals;
  if (pid_ <= 0) return signals;
  wait_for_senders();
  kill(pid_, SIGCONT);  // where the whole group was stopped and we alone went on
  Answer answer{};
  if (send(line_.get(), "?", 1, MSG_NOSIGNAL) != 1 || !hear(line_.get(), answer)) {
    stop();  // a late answer would be taken for that of the next question
    return signals;
  }
  wait_for_senders();
  for (std::uint32_t i = 0; i < answer.count; ++i) {
    signals.push_back(
        {.number = answer.signals[i].number, .code = SI_USER, .sender = answer.signals[i].sender});
  }
  return signals;
}

}  // namespace fathom::session
