// SPDX-License-Identifier: MIT
// Watches memory while a question is answered inside somebody else's process. The database counts
// only its own; names, rows and passes in C++ are ours. Nothing is killed and no limit of the
// process is changed: a question that makes the process grow beyond its limit is stopped, and fails
// with an error that says so.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "base/memory_limit.h"
#include "base/result.h"

namespace fathom::capi {

// "2GB"; nullptr: half of what this process may have.
Result<MemoryLimit> memory_limit(const char* text);

// One for each question: it owns a thread, which ends with it or with judged().
class MemoryWatch {
 public:
  // `stop` is called by another thread, again and again once the limit is passed: a question may
  // stand between two statements of the database.
  MemoryWatch(MemoryLimit limit, std::function<void()> stop);
  ~MemoryWatch() { end(); }
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

  // What the question gave, or why it was refused.
  template <class T>
  Result<T> judged(Result<T> outcome) {
    end();
    if (passed_)
      return limit_.refusal("the query",
                            "ask for a part of the recording, or open it with a larger memory");
    return outcome;
  }

 private:
  void watch();
  void end();

  MemoryLimit limit_;
  std::function<void()> stop_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ended_ = false;
  std::atomic<bool> passed_ = false;
  std::thread thread_;
};

}  // namespace fathom::capi
