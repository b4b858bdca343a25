// SPDX-License-Identifier: MIT
// What threads did with their time, out of the kernel's records of switches and samples, in order
// of time: each stretch off the CPU becomes a row, and each sample stands for the time that its
// thread ran since the one before. So the rows of a thread add up to its life, whatever the
// sampling clock missed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trace/rows/batch.h"
#include "trace/rows/samples.h"

namespace fathom::sources {

// A thread of this machine, by the numbers of the recorder's namespace.
struct ThreadId {
  std::int32_t pid = 0;
  std::int32_t tid = 0;
  auto operator<=>(const ThreadId&) const = default;  // NOLINT(modernize-use-nullptr)
};

// One thread at a time. Times are those of the recording. A thread that was not begun begins at the
// first thing that is told of it.
class ThreadAccount {
 public:
  // `on_cpu` and `off_cpu` are the names of the two events, as codes of the rows' texts.
  ThreadAccount(std::uint32_t on_cpu, std::uint32_t off_cpu) : on_cpu_(on_cpu), off_cpu_(off_cpu) {}

  // Somebody made it: it can run and is not let yet.
  void forked(ThreadId thread, std::int64_t ts);
  // It was there before anybody looked: whether it ran then, its next record tells.
  void found(ThreadId thread, std::int64_t ts);
  // It is asleep now, in this stack: if nothing has been told of it yet, since it was found.
  void asleep(ThreadId thread, std::int64_t stack);
  // It runs, and is looked at from now on.
  void running(ThreadId thread, std::int64_t ts);
  void switched_in(ThreadId thread, std::int64_t ts);
  // `preempted`: it could have gone on. Where nobody told from where, it is taken to be where it
  // left from the last time.
  void switched_out(ThreadId thread, std::int64_t ts, bool preempted);
  void sampled(ThreadId thread, std::int64_t ts, std::int32_t cpu, std::int64_t stack);
  // When and from where it is about to leave the CPU; its next switch follows. What lies between is
  // the kernel's, which takes this very stack.
  void leaves_from(ThreadId thread, std::int64_t ts, std::int64_t stack);
  // How long it was ready in all, as the kernel counts it: since it was forked, also before anybody
  // looked, and as another program.
  void ready(ThreadId thread, std::int64_t ns);
  void ended(ThreadId thread, std::int64_t ts);
  // Nobody looks any more: those that go on have lived until now.
  void stop(std::int64_t ts);

  // Another recording begins: the rows of this one are complete up to `ts`, ...
  void cut(std::int64_t ts);
  // ... and those that live go on in the other one, where `ts` is the same moment. Stacks of before
  // are not known there.
  void go_on(std::int64_t ts);
  // Where a thread slept when somebody looked at it, if it has done so since before that; kNull:
  // that is not told. Better than the stack that it was last sampled in.
  void slept_in(ThreadId thread, std::int64_t stack, std::int64_t looked_ts);
  // Threads that sleep since before `ts` and have nothing better.
  [[nodiscard]] std::vector<ThreadId> asleep_somewhere(std::int64_t ts) const;
  // Threads that are off the CPU by their own will, and nobody knows where.
  [[nodiscard]] std::vector<ThreadId> lost_asleep() const;
  [[nodiscard]] bool knows(ThreadId thread) const { return living_.contains(thread); }
  // The threads of this process have ended, or are not looked at any more.
  void ended_all(std::int32_t pid, std::int64_t ts);

  // How often threads left the CPU by their own will and nobody told from where, since the last
  // time.
  [[nodiscard]] std::uint64_t take_untold() { return std::exchange(untold_, 0); }
  [[nodiscard]] std::vector<trace::SampleRow> take_samples() { return std::exchange(samples_, {}); }
  // Threads that began or ended since the last time. One that goes on has no end.
  [[nodiscard]] std::vector<trace::ThreadRow> take_threads() { return std::exchange(threads_, {}); }

 private:
  struct Thread {
    std::int64_t start = 0;
    std::optional<std::int64_t> runs_since;  // none: it is off the CPU
    std::optional<std::int64_t> off_since;   // none beside the other: nobody knows where it is
    bool preempted = false;
    std::int64_t left_from = trace::kNull;    // stack of the next stretch,
    bool is_guess = false;                    // or else where it left from before, or was sampled
    std::optional<std::int64_t> leaves_at;    // where that is known better than by its switch
    std::int64_t last_stack = trace::kNull;   // sampled
    std::int64_t last_wait = trace::kNull;    // left from, by its own will
    std::int64_t unsampled = 0;               // ns that it ran since its last sample
    std::optional<trace::SampleRow> waiting;  // its last sample, which gets the rest of its time
    std::int64_t preempted_ns = 0;
    std::optional<std::int64_t> ready_before;  // what the kernel had counted when it began
    std::optional<std::int64_t> ready_ns;      // as the kernel counted since,
    std::int64_t preempted_then = 0;           // and `preempted_ns` at that time
  };

  Thread& at(ThreadId id, std::int64_t ts);
  void tell_begin(ThreadId id, std::int64_t ts);
  // Up to now it ran, or was off.
  void ran_until(Thread& thread, std::int64_t ts);
  void was_off_until(ThreadId id, Thread& thread, std::int64_t ts);
  void finish(ThreadId id, Thread& thread, std::int64_t ts);
  [[nodiscard]] static std::int64_t ready_of(const Thread& thread);

  std::uint32_t on_cpu_;
  std::uint32_t off_cpu_;
  std::map<ThreadId, Thread> living_;
  std::uint64_t untold_ = 0;
  std::vector<trace::SampleRow> samples_;
  std::vector<trace::ThreadRow> threads_;
};

// Threads that began or ended since the last time, with their names. Those of `ended` are not
// needed any more.
[[nodiscard]] std::vector<trace::ThreadRow> take_named(ThreadAccount& account,
                                                       std::map<ThreadId, std::string>& names,
                                                       std::vector<ThreadId>& ended);

}  // namespace fathom::sources
