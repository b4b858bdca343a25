// SPDX-License-Identifier: MIT
// The kernel counts a thread's time when it leaves the CPU or a tick comes by, and its time ready
// when it gets a CPU. So what is missing of a thread that is awake may be one of these, not told
// yet: it stays open until the next look.
#include "sources/perf/proc_rows.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/files.h"
#include "trace/rows/layers.h"

namespace fathom::sources {
namespace {

using trace::kNull;

constexpr char kRung[] = "proc";
// The kernel's slowest tick.
constexpr std::int64_t kTick = 10'000'000;
// Less than this is the difference of two clocks that were not read at once.
constexpr std::int64_t kLeastUnseen = 200'000;
constexpr char kKernel[] = "[kernel]";

}  // namespace

ProcRows::ProcRows(const ProcRowsOptions& options)
    : options_(options), account_(strings_.code("cpu-clock"), strings_.code("off-cpu")) {}

std::int64_t ProcRows::stack_of(std::vector<trace::Frame> frames) {
  return stacks_.stack(frames, strings_);
}

std::int64_t ProcRows::stack_of_sleep(const ThreadLook& look) {
  std::vector<trace::Frame> frames;
  const std::pair<std::string_view, std::string_view> places[] = {
      {look.user_place, ""}, {look.call, kKernel}, {look.kernel_place, kKernel}};
  for (const auto& [function, module] : places) {
    if (function.empty()) continue;
    trace::Frame frame;
    frame.function = strings_.code(function);
    frame.module = strings_.code_or_null(module);
    frames.push_back(frame);
  }
  return stack_of(std::move(frames));
}

void ProcRows::adopt(const ProcessLook& look, std::int64_t now) {
  root_ = look.stat.pid;
  Process& process = begin_process(look, now, nullptr);
  process.is_program = false;
  process.told = look.ran;  // none of the program's
  for (const ThreadLook& thread : look.threads) {
    Thread& made = begin_thread(process, thread, now);
    made.until = now;
    made.times = thread.times;
  }
}

void ProcRows::join(const ProcessLook& look, std::int64_t now, const ProcReader& reader) {
  if (processes_.contains(look.stat.pid)) return;
  Process& process = begin_process(look, now, &reader);
  process.told = look.ran;
  for (const ThreadLook& thread : look.threads) {
    if (thread.ended) continue;
    add_thread(process, thread.tid, now).times = thread.times;
    names_[{look.stat.pid, thread.tid}] = thread.name;
  }
}

void ProcRows::leave(std::int32_t pid) {
  const auto found = processes_.find(pid);
  if (found == processes_.end()) return;
  end_process(found->second);
  processes_.erase(found);
}

std::vector<Followed> ProcRows::followed() const {
  std::vector<Followed> all;
  for (const auto& [pid, process] : processes_)
    all.push_back({pid, options_.start_monotonic_ns + process.row.start});
  return all;
}

void ProcRows::cut(trace::Strings& strings, trace::HostRows& last) {
  for (const auto& [pid, process] : processes_) {
    for (const auto& [tid, thread] : process.threads) account_.ended({pid, tid}, ts(thread.until));
  }
  drain(strings, last);
}

// What a thread used and nobody has seen yet comes with its next look.
void ProcRows::begin_anew(std::int64_t start, std::int64_t now) {
  options_.start_monotonic_ns = start;
  stacks_ = {};
  for (auto& [pid, process] : processes_) {
    process.row.start = ts(now);
    process.computes = stack_of_computing(process);
    lives_.processes.push_back(process.row);
    for (auto& [tid, thread] : process.threads) {
      thread.until = now;
      thread.asleep = false;
      account_.found({pid, tid}, ts(now));
    }
  }
}

ProcRows::Process& ProcRows::begin_process(const ProcessLook& look, std::int64_t start,
                                           const ProcReader* reader) {
  Process& process = processes_[look.stat.pid];
  process = {};
  process.row.pid = look.stat.pid;
  process.row.ppid = look.stat.ppid;
  process.row.start = ts(start);
  process.row.rung = kRung;
  process.seen = start;
  process.start_stack = look.stat.start_stack;
  if (reader != nullptr) become_program(process, look, *reader);
  return process;
}

void ProcRows::become_program(Process& process, const ProcessLook& look, const ProcReader& reader) {
  process.file = reader.file_of(look.stat.pid);
  process.is_program = true;
  process.start_stack = look.stat.start_stack;
  process.row.name = process.file.empty() ? look.stat.name : base_name(process.file);
  if (!options_.no_command) process.row.command = reader.command_of(look.stat.pid);
  process.computes = stack_of_computing(process);
  lives_.processes.push_back(process.row);
}

std::int64_t ProcRows::stack_of_computing(const Process& process) {
  trace::Frame frame;
  frame.function = strings_.code("unknown");
  frame.module = strings_.code_or_null(process.file);
  return stack_of({frame});
}

// It is the same process, and another row of processes and threads.
void ProcRows::become_another(Process& process, const ProcessLook& look, std::int64_t now,
                              const ProcReader& reader) {
  process.row.end = ts(now);
  lives_.processes.push_back(process.row);
  process.row.start = ts(now);
  process.row.end = kNull;
  become_program(process, look, reader);
  for (auto& [tid, thread] : process.threads) {
    const ThreadId id{look.stat.pid, tid};
    account_.ended(id, ts(thread.until));
    account_.found(id, ts(thread.until));
    thread.asleep = false;
  }
}

void ProcRows::end_threads(Process& process) {
  while (!process.threads.empty()) end_thread(process, process.threads.begin()->first);
}

void ProcRows::end_process(Process& process) {
  end_threads(process);
  process.row.end = ts(process.seen);
  lives_.processes.push_back(process.row);
  told_ += process.told;
}

std::int64_t ProcRows::start_of(const ProcessLook& look, std::int64_t now) const {
  std::int64_t start = now;
  for (const ThreadLook& thread : look.threads) {
    const std::int64_t latest = now - thread.times.ran - thread.times.ready;
    start = std::min({start, std::max(last_look_, thread.start), latest});
  }
  return start;
}

// It cannot have begun later than what it used since.
ProcRows::Thread& ProcRows::begin_thread(Process& process, const ThreadLook& look,
                                         std::int64_t now) {
  const std::int64_t latest = now - look.times.ran - look.times.ready;
  return add_thread(process, look.tid, std::min(std::max(process.seen, look.start), latest));
}

ProcRows::Thread& ProcRows::add_thread(Process& process, std::int32_t tid, std::int64_t start) {
  Thread& thread = process.threads[tid];
  thread = {};
  thread.until = start;
  account_.found({static_cast<std::int32_t>(process.row.pid), tid}, ts(start));
  return thread;
}

void ProcRows::end_thread(Process& process, std::int32_t tid) {
  const ThreadId id{static_cast<std::int32_t>(process.row.pid), tid};
  account_.ended(id, ts(process.threads[tid].until));
  ended_.push_back(id);
  process.threads.erase(tid);
}

// Of one that is awake, what is not counted yet has come since the last look: when a thread gets a
// CPU, all before that is counted.
ProcRows::Parts ProcRows::parts_of(const Thread& thread, const ThreadLook& look, std::int64_t now,
                                   std::int64_t last_look) {
  const std::int64_t elapsed = std::max<std::int64_t>(0, now - thread.until);
  Parts parts;
  parts.ran = std::max<std::int64_t>(0, look.times.ran - thread.times.ran);
  const std::int64_t off = std::max<std::int64_t>(0, elapsed - parts.ran);
  parts.ready = std::clamp<std::int64_t>(look.times.ready - thread.times.ready, 0, off);
  const std::int64_t rest = off - parts.ready;
  const bool unseen = look.ended && thread.times.arrivals == 0;  // it began and ended since
  if (!look.awake && !unseen) {
    parts.slept = rest;
  } else if (look.awake && look.times.arrivals != thread.times.arrivals) {
    parts.slept = std::max<std::int64_t>(0, rest - std::max(kTick, now - last_look));
  }
  return parts;
}

void ProcRows::tell_run(Process& process, ThreadId id, std::int64_t from, std::int64_t ns,
                        std::int32_t cpu) {
  account_.switched_in(id, ts(from));
  account_.sampled(id, ts(from + ns), cpu < 0 ? trace::kNull32 : cpu, process.computes);
  process.told += ns;
}

void ProcRows::tell_sleep(ThreadId id, Thread& thread, std::int64_t at, std::int64_t in,
                          bool goes_on) {
  if (goes_on) return;
  account_.switched_out(id, ts(at), false);
  account_.leaves_from(id, ts(at), in);
  thread.asleep = true;
  thread.asleep_in = in;
}

// One that sleeps now ran before that; one that is awake, or ended just now, slept before.
void ProcRows::tell(Process& process, ThreadId id, Thread& thread, const ThreadLook& look,
                    std::int64_t now) {
  const Parts parts = parts_of(thread, look, now, process.seen);
  const bool ran_last = look.awake || look.ended;
  std::int64_t at = thread.until;
  if (ran_last && parts.slept > 0) {
    tell_sleep(id, thread, at, kNull, thread.asleep);
    at += parts.slept;
  }
  const auto ready = [&] {
    if (parts.ready > 0) account_.switched_out(id, ts(at), true);
    at += parts.ready;
  };
  if (ran_last) ready();
  if (parts.ran > 0) tell_run(process, id, at, parts.ran, look.cpu);
  at += parts.ran;
  if (!ran_last) ready();
  if (!parts.only_slept()) thread.asleep = false;
  if (!ran_last) {
    const std::int64_t in = stack_of_sleep(look);
    tell_sleep(id, thread, at, in, thread.asleep && in == thread.asleep_in);
    at += parts.slept;
  }
  thread.until = at;
  thread.times = look.times;
}

void ProcRows::look(Process& process, const ThreadLook& look, std::int64_t now) {
  const ThreadId id{static_cast<std::int32_t>(process.row.pid), look.tid};
  const auto known = process.threads.find(look.tid);
  Thread& thread =
      known != process.threads.end() ? known->second : begin_thread(process, look, now);
  names_[id] = look.name;
  tell(process, id, thread, look, now);
}

// What the process used beyond what its threads tell is that of threads that have ended: of those
// that were there the last time, if any.
void ProcRows::settle(Process& process, const ProcessLook& look, std::int64_t now) {
  std::set<std::int32_t> alive;
  for (const ThreadLook& thread : look.threads) {
    if (!thread.ended) alive.insert(thread.tid);
  }
  std::vector<std::int32_t> gone;
  for (const auto& [tid, thread] : process.threads) {
    if (!alive.contains(tid)) gone.push_back(tid);
  }
  const std::int64_t rest = look.ran - process.told;
  const auto pid = static_cast<std::int32_t>(process.row.pid);
  if (gone.empty() && rest >= kLeastUnseen) {
    tell_unseen(pid, rest, now);
    process.told += rest;
  }
  for (const std::int32_t tid : gone) {
    Thread& thread = process.threads[tid];
    const std::int64_t share = rest / static_cast<std::int64_t>(gone.size());
    if (share > 0) {
      tell_run(process, {pid, tid}, thread.until, share, -1);
      thread.until += share;
    }
    end_thread(process, tid);
  }
}

// Nobody knows which they were: thread 0 of the process.
void ProcRows::tell_unseen(std::int32_t pid, std::int64_t ns, std::int64_t now) {
  trace::SampleRow row;
  row.ts = ts(now);
  row.pid = pid;
  row.tid = 0;
  row.event = strings_.code("cpu-clock");
  row.weight = ns;
  unseen_.push_back(row);
  if (options_.lives_are_told) return;
  trace::ThreadRow life;
  life.pid = pid;
  life.tid = 0;
  life.name = "too short to be seen";
  life.start = ts(now - ns);
  life.end = ts(now);
  life.ready = 0;
  lives_.threads.push_back(std::move(life));
}

void ProcRows::look(Process& process, const ProcessLook& look, std::int64_t now,
                    const ProcReader& reader) {
  const bool another = look.stat.start_stack != process.start_stack;
  if (another && !process.is_program) become_program(process, look, reader);
  for (const ThreadLook& thread : look.threads) this->look(process, thread, now);
  settle(process, look, now);
  process.seen = now;
  // (One that has ended has no stack.)
  if (look.stat.start_stack != 0 && look.stat.start_stack != process.start_stack)
    become_another(process, look, now, reader);
}

void ProcRows::look(const std::vector<ProcessLook>& processes, std::int64_t now,
                    const ProcReader& reader) {
  std::set<std::int32_t> alive;
  for (const ProcessLook& look : processes) {
    const std::int32_t pid = look.stat.pid;
    alive.insert(pid);
    const auto known = processes_.find(pid);
    Process& process = known != processes_.end()
                           ? known->second
                           : begin_process(look, start_of(look, now), &reader);
    this->look(process, look, now, reader);
  }
  for (auto& [pid, process] : processes_) {
    if (!alive.contains(pid)) end_process(process);
  }
  std::erase_if(processes_, [&](const auto& one) { return !alive.contains(one.first); });
  last_look_ = now;
}

// Those that go on have lived until now, as far as is known. What was used and nobody saw is of
// processes that were too short for a look.
void ProcRows::stop(std::int64_t now, std::optional<std::int64_t> used) {
  for (auto& [pid, process] : processes_) {
    end_threads(process);
    if (pid == root_) told_ += process.told;
  }
  const std::int64_t unseen = used.value_or(0) - told_;
  if (unseen >= kLeastUnseen) tell_unseen(root_, unseen, now);
}

void ProcRows::drain(trace::Strings& strings, trace::HostRows& into) {
  const auto code = [&](std::uint32_t own) { return strings.code_or_null(strings_.view(own)); };
  for (trace::FrameRow row : stacks_.take_new().rows) {
    row.frame.function = code(row.frame.function);
    row.frame.module = code(row.frame.module);
    into.frames.rows.push_back(row);
  }
  for (auto rows : {account_.take_samples(), std::exchange(unseen_, {})}) {
    for (trace::SampleRow& row : rows) {
      row.event = code(row.event);
      into.samples.rows.push_back(row);
    }
  }
  std::ranges::move(take_named(account_, names_, ended_), std::back_inserter(into.lives.threads));
  into.lives.add(std::exchange(lives_, {}));
}

}  // namespace fathom::sources
