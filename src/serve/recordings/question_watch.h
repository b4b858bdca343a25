// SPDX-License-Identifier: MIT
// Ends questions to recordings that take too long or too much memory, or that nobody waits for any
// more. One thread looks at all of them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "base/memory_limit.h"
#include "serve/recordings/open_recordings.h"

namespace fathom::serve {

// Any thread.
class QuestionWatch {
 public:
  explicit QuestionWatch(std::uint64_t memory_bytes);
  ~QuestionWatch();
  QuestionWatch(const QuestionWatch&) = delete;
  QuestionWatch& operator=(const QuestionWatch&) = delete;

  struct Question {
    std::int64_t deadline_ns = 0;  // of CLOCK_MONOTONIC
    std::shared_ptr<const std::atomic<bool>> gone = {};
    // Called again and again once the question is to end: it may stand between two statements.
    std::function<void()> interrupt;
    // Called once where it goes on all the same: some functions of SQL never look up from their
    // work.
    std::function<void(QuestionEnd)> abandon = {};
    std::atomic<QuestionEnd> end = QuestionEnd::kNot;
    std::int64_t ended_ns = 0;
  };

  // Watches it until the handle goes.
  using Handle = std::shared_ptr<Question>;
  Handle begin(std::int64_t deadline_ns, std::shared_ptr<const std::atomic<bool>> gone,
               std::function<void()> interrupt, std::function<void(QuestionEnd)> abandon = {});
  void finish(const Handle& question);

  [[nodiscard]] const MemoryLimit& memory() const { return memory_; }

 private:
  void watch();
  static void hurry(Question& question);
  [[nodiscard]] static QuestionEnd judge(const Question& question, bool is_memory_exceeded);

  MemoryLimit memory_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Handle> questions_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace fathom::serve
