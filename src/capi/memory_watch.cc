// SPDX-License-Identifier: MIT
// A thread for the time of one question. Others of the process may take memory meanwhile: what they
// take counts as well, since the machine has no more for us then. The process is none of ours, so
// its signals never come to this thread.
#include "capi/memory_watch.h"

#include <chrono>
#include <csignal>
#include <utility>

#include "base/memory.h"
#include "base/text.h"

namespace fathom::capi {
namespace {

constexpr std::chrono::milliseconds kLook{20};
constexpr std::uint64_t kLeast = 16ULL << 20U;     // less is not enough to open anything
constexpr std::uint64_t kOwnRoom = 128ULL << 20U;  // what we need beside the database

}  // namespace

Result<std::uint64_t> memory_limit(const char* text) {
  if (text == nullptr) return usable_memory() / 2;
  const Result<std::uint64_t> bytes = parse_bytes(text);
  if (bytes && *bytes >= kLeast) return *bytes;
  return usage_error("memory '" + std::string(text) + "' is not a valid limit",
                     "write it as 512MiB or 4GB, at least 16M");
}

std::string memory_of_store(std::uint64_t limit) { return std::to_string(limit - limit / 5) + "B"; }

MemoryWatch::MemoryWatch(std::uint64_t limit, std::function<void()> stop)
    : limit_(limit), before_(own_memory("RssAnon:")), stop_(std::move(stop)) {
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
  while (!ends_.wait_for(lock, kLook, [this] { return ended_; })) {
    if (!passed_ && own_memory("RssAnon:") <= before_ + limit_ + kOwnRoom) continue;
    passed_ = true;
    stop_();
  }
}

Error MemoryWatch::refusal() const {
  return {Code::kIo, "the query needs more memory than " + human_bytes(static_cast<double>(limit_)),
          "ask for a part of the recording, or open it with a larger memory"};
}

}  // namespace fathom::capi
