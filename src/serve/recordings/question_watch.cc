// SPDX-License-Identifier: MIT
// Sleeps while nobody asks. Where memory is short, every question ends: which of them took it
// cannot be told, and the database has bounds of its own that come first.
#include "serve/recordings/question_watch.h"

#include <chrono>
#include <utility>

#include "base/clock.h"

namespace fathom::serve {
namespace {

constexpr std::int64_t kPatienceNs = 2'000'000'000;  // with a question that was told to end

}  // namespace

QuestionWatch::QuestionWatch(std::uint64_t memory_bytes)
    : memory_(memory_bytes), thread_([this] { watch(); }) {
  memory_.begin();
}

QuestionWatch::~QuestionWatch() {
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

QuestionWatch::Handle QuestionWatch::begin(std::int64_t deadline_ns,
                                           std::shared_ptr<const std::atomic<bool>> gone,
                                           std::function<void()> interrupt,
                                           std::function<void(QuestionEnd)> abandon) {
  auto question = std::make_shared<Question>();
  question->deadline_ns = deadline_ns;
  question->gone = std::move(gone);
  question->interrupt = std::move(interrupt);
  question->abandon = std::move(abandon);
  const std::scoped_lock lock(mutex_);
  questions_.push_back(question);
  changed_.notify_all();
  return question;
}

void QuestionWatch::finish(const Handle& question) {
  const std::scoped_lock lock(mutex_);
  questions_.remove(question);
}

QuestionEnd QuestionWatch::judge(const Question& question, bool is_memory_exceeded) {
  if (question.gone && *question.gone) return QuestionEnd::kGone;
  if (now_monotonic_ns() > question.deadline_ns) return QuestionEnd::kTime;
  return is_memory_exceeded ? QuestionEnd::kMemory : QuestionEnd::kNot;
}

void QuestionWatch::hurry(Question& question) {
  question.interrupt();
  const std::int64_t now = now_monotonic_ns();
  if (question.ended_ns == 0) question.ended_ns = now;
  if (now - question.ended_ns < kPatienceNs || !question.abandon) return;
  std::exchange(question.abandon, {})(question.end);
}

void QuestionWatch::watch() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    if (questions_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const bool is_exceeded = memory_.is_exceeded();
    for (const Handle& question : questions_) {
      if (question->end == QuestionEnd::kNot) question->end = judge(*question, is_exceeded);
      if (question->end != QuestionEnd::kNot) hurry(*question);
    }
    changed_.wait_for(lock, std::chrono::nanoseconds(MemoryLimit::kLookNs));
  }
}

}  // namespace fathom::serve
