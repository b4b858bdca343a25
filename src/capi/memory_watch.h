// SPDX-License-Identifier: MIT
// Watches memory while a question is answered inside somebody else's process. The database counts
// only its own; names, rows and passes in C++ are ours. Nothing is killed and no limit of the
// process is changed: a question that makes the process grow beyond its limit is stopped, and fails
// with an error that says so.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"

namespace fathom::capi {

// "2GB" as bytes; nullptr: half of what this process may have.
Result<std::uint64_t> memory_limit(const char* text);
// What of the limit the database may take, as StoreOptions::memory wants it.
[[nodiscard]] std::string memory_of_store(std::uint64_t limit);

class MemoryWatch {
 public:
  // `stop` is called by another thread, again and again once the limit is passed: a question may
  // stand between two statements of the database.
  MemoryWatch(std::uint64_t limit, std::function<void()> stop);
  ~MemoryWatch() { end(); }
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

  // What the question gave, or why it was refused.
  template <class T>
  Result<T> judged(Result<T> outcome) {
    end();
    if (passed_) return refusal();
    return outcome;
  }

 private:
  void watch();
  void end();
  [[nodiscard]] Error refusal() const;

  std::uint64_t limit_;
  std::uint64_t before_;  // bytes of this process when the question began
  std::function<void()> stop_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ended_ = false;
  std::atomic<bool> passed_ = false;
  std::thread thread_;
};

}  // namespace fathom::capi
