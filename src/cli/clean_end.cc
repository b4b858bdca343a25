// SPDX-License-Identifier: MIT
#include "cli/clean_end.h"

#include <csignal>
#include <thread>

#include "base/scratch.h"

namespace fathom::cli {
namespace {

// Those that somebody had us ignore (nohup) stay so.
sigset_t signals_to_end_by() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL)
      sigaddset(&signals, signal);
  }
  return signals;
}

void wait_and_end(sigset_t signals) {
  int signal = 0;
  if (sigwait(&signals, &signal) != 0) return;
  remove_all_scratch();
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  (void)raise(signal);
}

}  // namespace

void end_cleanly_on_signals() {
  static const bool kOnce = [] {
    const sigset_t signals = signals_to_end_by();
    if (pthread_sigmask(SIG_BLOCK, &signals, nullptr) != 0) return false;
    std::thread(wait_and_end, signals).detach();
    return true;
  }();
  (void)kOnce;
}

}  // namespace fathom::cli
