// SPDX-License-Identifier: MIT
// A thread for the time of one question. Others of the process may take memory meanwhile: what they
// take counts as well, since the machine has no more for us then. The process is none of ours, so
// its signals never come to this thread.
#include "capi/memory_watch.h"

#include <chrono>
#include <csignal>
#include <utility>

namespace fathom::capi {
Result<MemoryLimit> memory_limit(const char* text) {
  return text == nullptr ? Result<MemoryLimit>(MemoryLimit()) : MemoryLimit::parse("memory", text);
}

MemoryWatch::MemoryWatch(MemoryLimit limit, std::function<void()> stop)
    : limit_(limit), stop_(std::move(stop)) {
  limit_.begin();
  sigset_t all;
  sigset_t former;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &former);
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {
    // No thread can be made: the database's own limit is left.
  }
  pthread_sigmask(SIG_SETMASK, &former, nullptr);
}

void MemoryWatch::end() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
  }
  ends_.notify_one();
  thread_.join();
}

void MemoryWatch::watch() {
  std::unique_lock lock(mutex_);
  constexpr std::chrono::nanoseconds kLook{MemoryLimit::kLookNs};
  while (!ends_.wait_for(lock, kLook, [this] { return ended_; })) {
    if (!passed_ && !limit_.is_exceeded()) continue;
    passed_ = true;
    stop_();
  }
}

}  // namespace fathom::capi
