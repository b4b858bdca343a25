// SPDX-License-Identifier: MIT
// Each moment of a thread belongs to exactly one row: on the CPU to the sample before it, off the
// CPU to a stretch. A sample waits until its thread's next one, so that the last one can have what
// its thread ran after it: without that, each thread would lack half a period. Records may be lost
// (a ring was full), so every function also takes a thread that is not where it should be, and
// decides whose the time in between is.
#include "sources/perf/thread_account.h"

#include <algorithm>

namespace fathom::sources {

using trace::kNull;
using trace::SampleRow;
using trace::ThreadRow;

// Whoever is told of for the first time begins then.
ThreadAccount::Thread& ThreadAccount::at(ThreadId id, std::int64_t ts) {
  const auto [place, is_new] = living_.try_emplace(id);
  if (!is_new) return place->second;
  place->second.start = ts;
  tell_begin(id, ts);
  return place->second;
}

void ThreadAccount::tell_begin(ThreadId id, std::int64_t ts) {
  ThreadRow row;
  row.pid = id.pid;
  row.tid = id.tid;
  row.start = ts;
  row.ready = 0;  // so far
  threads_.push_back(std::move(row));
}

void ThreadAccount::forked(ThreadId thread, std::int64_t ts) {
  if (living_.contains(thread)) ended(thread, ts);  // its number is another's now
  Thread& made = at(thread, ts);
  // It waits to be let run for the first time, and the kernel counts that as ready from the
  // beginning.
  made.off_since = ts;
  made.preempted = true;
  made.ready_before = 0;
}

void ThreadAccount::found(ThreadId thread, std::int64_t ts) { at(thread, ts); }

void ThreadAccount::asleep(ThreadId id, std::int64_t stack) {
  const auto found = living_.find(id);
  if (found == living_.end() || found->second.runs_since) return;
  Thread& thread = found->second;
  if (!thread.off_since) thread.off_since = thread.start;
  if (thread.left_from == kNull && !thread.preempted) thread.left_from = stack;
}

void ThreadAccount::running(ThreadId thread, std::int64_t ts) {
  Thread& it = at(thread, ts);
  if (!it.runs_since) switched_in(thread, ts);
}

// Adds to the time that its next sample will stand for.
void ThreadAccount::ran_until(Thread& thread, std::int64_t ts) {
  // The first thing that is told of a thread that was found: it ran since then.
  if (!thread.runs_since && !thread.off_since) thread.runs_since = thread.start;
  if (!thread.runs_since) return;
  thread.unsampled += std::max<std::int64_t>(0, ts - *thread.runs_since);
  thread.runs_since = ts;
}

// The row of a stretch off the CPU, which ends now. One that was pushed off was ready all the time.
void ThreadAccount::was_off_until(ThreadId id, Thread& thread, std::int64_t ts) {
  if (!thread.off_since) return;
  SampleRow row;
  row.ts = *thread.off_since;
  row.pid = id.pid;
  row.tid = id.tid;
  row.event = off_cpu_;
  row.weight = std::max<std::int64_t>(0, ts - *thread.off_since);
  row.stack = std::exchange(thread.left_from, kNull);
  thread.off_since.reset();
  if (row.weight == 0) return;
  if (thread.preempted) {
    row.ready = row.weight;
    thread.preempted_ns += row.weight;
  }
  samples_.push_back(row);
}

void ThreadAccount::switched_in(ThreadId id, std::int64_t ts) {
  Thread& thread = at(id, ts);
  if (thread.runs_since) return;  // the record of its leaving was lost: the time stays its own
  if (!thread.off_since) thread.off_since = thread.start;
  was_off_until(id, thread, ts);
  thread.runs_since = ts;
}

void ThreadAccount::switched_out(ThreadId id, std::int64_t ts, bool preempted) {
  Thread& thread = at(id, ts);
  // The stack of a wait was taken a moment before the switch: that moment is where the wait begins.
  const std::int64_t told = std::exchange(thread.leaves_at, std::nullopt).value_or(ts);
  if (thread.runs_since && told >= *thread.runs_since) ts = std::min(ts, told);
  ran_until(thread, ts);
  was_off_until(id, thread, ts);  // only where the record of its coming was lost
  thread.runs_since.reset();
  thread.off_since = ts;
  thread.preempted = preempted;
  // Nobody told from where: a thread that waits usually waits where it did before, one that was
  // pushed off is where it was last sampled. slept_in() may know better.
  thread.is_guess = thread.left_from == kNull;
  if (thread.is_guess) {
    const bool waited = !preempted && thread.last_wait != kNull;
    thread.left_from = waited ? thread.last_wait : thread.last_stack;
    if (!preempted) untold_++;
  } else if (!preempted) {
    thread.last_wait = thread.left_from;
  }
}

void ThreadAccount::sampled(ThreadId id, std::int64_t ts, std::int32_t cpu, std::int64_t stack) {
  Thread& thread = at(id, ts);
  if (thread.off_since) switched_in(id, ts);  // the record of its coming was lost
  ran_until(thread, ts);
  if (thread.waiting) samples_.push_back(*thread.waiting);
  SampleRow row;
  row.ts = ts;
  row.pid = id.pid;
  row.tid = id.tid;
  row.cpu = cpu;
  row.event = on_cpu_;
  row.weight = std::exchange(thread.unsampled, 0);
  row.stack = stack;
  thread.waiting = row;
  thread.last_stack = stack;
  thread.left_from = kNull;
}

void ThreadAccount::leaves_from(ThreadId id, std::int64_t ts, std::int64_t stack) {
  const auto found = living_.find(id);
  if (found == living_.end()) return;
  found->second.left_from = stack;
  found->second.leaves_at = ts;
  found->second.is_guess = false;
}

void ThreadAccount::slept_in(ThreadId id, std::int64_t stack, std::int64_t looked_ts) {
  const auto found = living_.find(id);
  if (found == living_.end()) return;
  Thread& thread = found->second;
  // It has run since then, or the kernel has told.
  if (!thread.off_since || *thread.off_since > looked_ts || !thread.is_guess) return;
  thread.is_guess = false;
  if (stack != kNull) thread.left_from = stack;
}

std::vector<ThreadId> ThreadAccount::asleep_somewhere(std::int64_t ts) const {
  std::vector<ThreadId> threads;
  for (const auto& [id, thread] : living_) {
    if (thread.off_since && *thread.off_since < ts && !thread.preempted && thread.is_guess)
      threads.push_back(id);
  }
  return threads;
}

void ThreadAccount::ready(ThreadId id, std::int64_t ns) {
  const auto found = living_.find(id);
  if (found == living_.end()) return;
  Thread& thread = found->second;
  // Too much would be taken from its waits: what was before is all that was not seen by then.
  if (!thread.ready_before) thread.ready_before = ns - thread.preempted_ns;
  thread.ready_ns = ns - *thread.ready_before;
  thread.preempted_then = thread.preempted_ns;
}

// What the kernel counted, and what was seen since it was asked last.
std::int64_t ThreadAccount::ready_of(const Thread& thread) {
  if (!thread.ready_ns) return thread.preempted_ns;
  return *thread.ready_ns + thread.preempted_ns - thread.preempted_then;
}

// Closes whatever is open: the last run, the last wait, the sample that waits.
void ThreadAccount::finish(ThreadId id, Thread& thread, std::int64_t ts) {
  ran_until(thread, ts);
  was_off_until(id, thread, ts);
  if (!thread.waiting && thread.unsampled > 0) {  // too short a life to be met by a sample
    SampleRow row;
    row.ts = ts;
    row.pid = id.pid;
    row.tid = id.tid;
    row.event = on_cpu_;
    thread.waiting = row;
  }
  if (thread.waiting) {
    thread.waiting->weight += std::exchange(thread.unsampled, 0);
    samples_.push_back(*thread.waiting);
  }
  ThreadRow row;
  row.pid = id.pid;
  row.tid = id.tid;
  row.start = thread.start;
  row.end = ts;
  row.ready = ready_of(thread);
  threads_.push_back(std::move(row));
}

void ThreadAccount::ended(ThreadId thread, std::int64_t ts) {
  const auto found = living_.find(thread);
  if (found == living_.end()) return;
  finish(thread, found->second, ts);
  living_.erase(found);
}

void ThreadAccount::ended_all(std::int32_t pid, std::int64_t ts) {
  auto at = living_.lower_bound({pid, 0});
  while (at != living_.end() && at->first.pid == pid) {
    finish(at->first, at->second, ts);
    at = living_.erase(at);
  }
}

// Rows of this recording end, and the thread goes on in the next as if it had been found there:
// what it was is known, where it was is not.
void ThreadAccount::cut(std::int64_t ts) {
  for (auto& [id, thread] : living_) {
    const bool is_off = thread.off_since.has_value();
    finish(id, thread, ts);
    Thread next;
    next.start = ts;
    next.preempted = thread.preempted;
    if (thread.runs_since) next.runs_since = ts;
    if (is_off) next.off_since = ts;
    thread = next;
  }
}

void ThreadAccount::go_on(std::int64_t ts) {
  for (auto& [id, thread] : living_) {
    thread.start = ts;
    if (thread.runs_since) thread.runs_since = ts;
    if (thread.off_since) thread.off_since = ts;
    tell_begin(id, ts);
  }
}

std::vector<ThreadId> ThreadAccount::lost_asleep() const {
  std::vector<ThreadId> threads;
  for (const auto& [id, thread] : living_) {
    if (thread.off_since && !thread.preempted && thread.left_from == kNull) threads.push_back(id);
  }
  return threads;
}

void ThreadAccount::stop(std::int64_t ts) {
  for (auto& [id, thread] : living_) finish(id, thread, ts);
  living_.clear();
}

std::vector<ThreadRow> take_named(ThreadAccount& account, std::map<ThreadId, std::string>& names,
                                  std::vector<ThreadId>& ended) {
  std::vector<ThreadRow> rows = account.take_threads();
  for (ThreadRow& row : rows) {
    const ThreadId id{static_cast<std::int32_t>(row.pid), static_cast<std::int32_t>(row.tid)};
    if (const auto name = names.find(id); name != names.end()) row.name = name->second;
  }
  for (const ThreadId& id : std::exchange(ended, {})) names.erase(id);
  return rows;
}

}  // namespace fathom::sources
