// SPDX-License-Identifier: MIT
// Each event is read by itself: an inherited group cannot be read as one on most kernels, and its
// members run at the same times all the same. Where the CPU has fewer counters than events, the
// kernel lets them take turns, and what was counted is scaled by the share of the time; `coverage`
// says how much of it that was.
#include "perf/counting.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "base/text.h"
#include "perf/counter.h"
#include "perf/open.h"

namespace fathom::perf {
namespace {

// As read_format orders it.
struct Reading {
  std::uint64_t value = 0;
  std::uint64_t enabled = 0;  // ns that it was to be counted
  std::uint64_t running = 0;  // ns that it was
};

bool read_counter(const Fd& fd, Reading& reading) {
  ssize_t got = 0;
  do {
    got = ::read(fd.get(), &reading, sizeof reading);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof reading);
}

perf_event_attr counting_attr(const Event& event, bool leads, Counting::Start start,
                              Counting::Scope scope) {
  perf_event_attr attr = event.attr();
  attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attr.inherit = 1;
  attr.inherit_thread = scope == Counting::Scope::kProcess ? 1 : 0;
  // The leader switches its group on.
  attr.disabled = leads ? 1 : 0;
  attr.enable_on_exec = leads && start == Counting::Start::kExec ? 1 : 0;
  return attr;
}

std::set<pid_t> threads_of(pid_t process) {
  std::set<pid_t> threads;
  const Result<std::vector<std::string>> names =
      list_dir("/proc/" + std::to_string(process) + "/task");
  if (!names) return threads;
  for (const std::string& name : *names) {
    const Result<std::int64_t> id = parse_int(name);
    if (id) threads.insert(static_cast<pid_t>(*id));
  }
  return threads;
}

}  // namespace

void Counting::open_group(const EventGroup& group, std::size_t first, pid_t thread) {
  int leader = -1;
  for (std::size_t i = 0; i < group.events.size(); ++i) {
    Counter& counter = counters_[first + i];
    if (counter.refused && counter.of_threads.empty()) continue;  // as for the first thread
    const perf_event_attr attr = counting_attr(counter.event, leader == -1, start_, scope_);
    Opened attempt = open_counter(counter.event, attr, {.pid = thread, .group = leader});
    if (!attempt.fd) {
      // A thread that is gone has counted nothing.
      if (attempt.fd.error().code != Code::kNotFound) counter.refused = attempt.fd.error();
      continue;
    }
    counter.user_only = counter.user_only || attempt.user_only;
    counter.of_threads.push_back(std::move(attempt.fd).value());
    if (leader == -1) leader = counter.of_threads.back().get();
  }
}

void Counting::open_thread(const std::vector<EventGroup>& groups, pid_t thread) {
  std::size_t first = 0;
  for (const EventGroup& group : groups) {
    open_group(group, first, thread);
    first += group.events.size();
  }
}

Counting::Counting(const std::vector<EventGroup>& groups, Start start, Scope scope)
    : start_(start), scope_(scope) {
  for (const EventGroup& group : groups) {
    for (const Event& event : group.events) {
      Counter& counter = counters_.emplace_back();
      counter.event = event;
      if (!event.reason.empty())
        counter.refused = Error{Code::kUnsupported, event.reason, event.fix};
    }
  }
}

Result<Counting> Counting::open(const std::vector<EventGroup>& groups, pid_t process, Start start,
                                Scope scope) {
  if (start == Start::kExec) {
    Counting counting(groups, start, scope);
    counting.open_thread(groups, process);
    return counting;
  }
  // A thread that begins meanwhile is counted by what its creator inherits, or not at all if that
  // one was not open yet, and nobody can tell which: so all of them are opened again.
  constexpr int kAttempts = 20;
  for (int attempt = 1;; ++attempt) {
    const std::set<pid_t> threads = threads_of(process);
    if (threads.empty())
      return Error{Code::kNotFound, "there is no process " + std::to_string(process), ""};
    Counting counting(groups, start, scope);
    for (const pid_t thread : threads) counting.open_thread(groups, thread);
    if (attempt == kAttempts || threads_of(process) == threads) return counting;
  }
}

void Counting::enable() {
  for (const Counter& counter : counters_) {
    for (const Fd& fd : counter.of_threads) (void)::ioctl(fd.get(), PERF_EVENT_IOC_ENABLE, 0);
  }
}

Count Counting::read_one(const Counter& counter) const {
  Count count;
  count.name = counter.event.name;
  count.unit = counter.event.unit;
  count.user_only = counter.user_only;
  if (counter.refused) {  // also where it failed for some of the threads: a part is not the sum
    count.reason = counter.refused->message;
    count.fix = counter.refused->hint;
    return count;
  }
  Reading sum;
  double scaled = 0;
  for (const Fd& fd : counter.of_threads) {
    Reading reading;
    if (!read_counter(fd, reading)) continue;
    sum.enabled += reading.enabled;
    sum.running += reading.running;
    const auto value = static_cast<double>(reading.value);
    if (reading.running > 0 && reading.running < reading.enabled) {
      // Thread by thread: each had turns of its own.
      scaled += value * static_cast<double>(reading.enabled) / static_cast<double>(reading.running);
    } else {
      scaled += value;
    }
  }
  if (sum.running == 0) {
    count.reason = sum.enabled == 0 ? "the process did not run while it was counted"
                                    : "the counters were always busy with other events";
    return count;
  }
  count.coverage =
      std::min(1.0, static_cast<double>(sum.running) / static_cast<double>(sum.enabled));
  count.value = scaled * counter.event.scale;
  return count;
}

std::vector<Count> Counting::read() const {
  std::vector<Count> counts;
  for (const Counter& counter : counters_) counts.push_back(read_one(counter));
  return counts;
}

std::size_t Counting::opened() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(counters_, [](const Counter& counter) { return !counter.refused; }));
}

// What could be changed is worth more than what this machine has not.
Error Counting::why_none() const {
  const Counter* told = nullptr;
  for (const Counter& counter : counters_) {
    const bool is_denied = counter.refused && counter.refused->code == Code::kDenied;
    if (counter.refused && (told == nullptr || is_denied)) told = &counter;
    if (is_denied) break;
  }
  if (told == nullptr) return {Code::kUnsupported, "there is no event to count", ""};
  return {
      Code::kUnsupported,
      "none of the events can be counted here; " + told->event.name + ": " + told->refused->message,
      told->refused->hint};
}

}  // namespace fathom::perf
