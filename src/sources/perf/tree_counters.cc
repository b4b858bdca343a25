// SPDX-License-Identifier: MIT
// Opens the counters and reads their rings. Counters are opened for one CPU each, since only those
// may have a ring when children inherit them; each CPU has one ring, which all its counters share.
// What a thread counted comes as a record when it ends (inherit_stat), beside records of who began
// and ended; records of several rings are put in order by the queue.
#include "sources/perf/tree_counters.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <utility>

#include "base/cpus.h"
#include "perf/counter.h"

namespace fathom::sources {
namespace {

// Two records for each event of a thread that ends: enough for thousands between two looks.
constexpr std::size_t kRing = std::size_t{256} << 10;

// Both kinds of counters bear the same fields in their records, so that one reader reads the ring.
void as_told_at_the_end(perf_event_attr& attr) {
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attr.sample_id_all = 1;
  attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.inherit = 1;
  attr.disabled = 1;
  attr.enable_on_exec = 1;
}

// Counts nothing: it owns the ring, and brings the records of tasks.
perf_event_attr attr_of_lives() {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.exclude_kernel = 1;  // there is nothing to count, and everybody may
  attr.exclude_hv = 1;
  attr.task = 1;
  as_told_at_the_end(attr);
  return attr;
}

perf_event_attr attr_of(const perf::Event& event) {
  perf_event_attr attr = event.attr();
  as_told_at_the_end(attr);
  attr.inherit_stat = 1;
  return attr;
}

Counted read_counter(const Fd& fd) {
  std::uint64_t words[3] = {};  // as read_format orders it
  ssize_t got = 0;
  do {
    got = ::read(fd.get(), words, sizeof words);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof words)) return {};
  return {static_cast<double>(words[0]), static_cast<double>(words[1]),
          static_cast<double>(words[2])};
}

std::string sentence(const std::string& event, const Error& error) {
  return event + ": " + error.message + (error.hint.empty() ? "" : " (" + error.hint + ")");
}

}  // namespace

TreeCounters TreeCounters::open(pid_t process, const std::vector<perf::Event>& events) {
  TreeCounters made(attr_of_lives());
  Status added = made.prevent_swaps(process);
  for (const int cpu : online_cpus()) {
    if (added) added = made.add_cpu(process, cpu);
  }
  if (!added) {
    for (const perf::Event& event : events)
      made.refused_.push_back(sentence(event.name, added.error()));
    return made;
  }
  for (const perf::Event& event : events) {
    const Result<bool> user_only = made.add_event(process, event);
    if (!user_only) made.refused_.push_back(sentence(event.name, user_only.error()));
    if (user_only && *user_only)
      made.refused_.push_back(event.name + " without what happens in the kernel");
  }
  return made;
}

// When a thread makes room for one with the same counters, the kernel leaves them on the CPU and
// swaps their values, pair by pair (inherit_stat). It finds the pairs by their places in two lists:
// the program's has the order in which we opened the counters, those of threads and processes that
// it makes are ordered by CPU and kind. A value would go to a counter of another kind. With a
// counter that is not inherited, the kernel never takes the program's for the same as another's;
// all others have lists of one order.
Status TreeCounters::prevent_swaps(pid_t process) {
  perf_event_attr attr = attr_of_lives();
  attr.inherit = 0;
  attr.task = 0;
  FATHOM_ASSIGN(uninherited_, perf::open_event(attr, {.pid = process}));
  return {};
}

Status TreeCounters::add_cpu(pid_t process, int cpu) {
  perf_event_attr attr = attr_of_lives();
  FATHOM_ASSIGN(Fd lives, perf::open_event(attr, {.pid = process, .cpu = cpu}));
  FATHOM_ASSIGN(perf::Ring ring, perf::Ring::map(lives.get(), kRing));
  cpus_.push_back({std::move(lives), std::move(ring), {}});
  numbers_.push_back(cpu);
  return {};
}

Result<bool> TreeCounters::add_event(pid_t process, const perf::Event& event) {
  if (!event.reason.empty()) return Error{Code::kUnsupported, event.reason, event.fix};
  std::vector<Fd> counters;
  std::vector<std::uint64_t> ids;
  bool user_only = false;
  for (std::size_t i = 0; i < cpus_.size(); ++i) {
    perf::Opened opened =
        perf::open_counter(event, attr_of(event), {.pid = process, .cpu = numbers_[i]});
    if (!opened.fd) return opened.fd.error();
    user_only = user_only || opened.user_only;
    const Fd& fd = counters.emplace_back(std::move(opened.fd).value());
    // Into the ring of its CPU. The number that the kernel gave it tells whose a record is.
    if (::ioctl(fd.get(), PERF_EVENT_IOC_SET_OUTPUT, cpus_[i].lives.get()) != 0 ||
        ::ioctl(fd.get(), PERF_EVENT_IOC_ID, &ids.emplace_back()) != 0)
      return Error{Code::kUnsupported, "this kernel does not tell what threads counted", ""};
  }
  for (std::size_t i = 0; i < cpus_.size(); ++i) {
    ids_[ids[i]] = {events_.size(), i};
    cpus_[i].counters.push_back(std::move(counters[i]));
  }
  events_.push_back(event);
  return user_only;
}

void TreeCounters::read(RecordQueue& records) {
  for (Cpu& cpu : cpus_) {
    const std::uint64_t before = cpu.ring.damaged();
    cpu.ring.drain([&](std::span<const std::byte> bytes) {
      const std::optional<perf::Record> record = reader_.read(bytes);
      if (const auto* lost = record ? std::get_if<perf::Lost>(&record->body) : nullptr) {
        lost_ += lost->count;
      } else if (record) {
        records.add(record->id.time, bytes);
      } else {
        lost_++;
      }
    });
    lost_ += cpu.ring.damaged() - before;
  }
}

std::optional<TreeCounters::Which> TreeCounters::which(std::uint64_t id) const {
  const auto found = ids_.find(id);
  return found != ids_.end() ? std::optional(found->second) : std::nullopt;
}

// Software events and tracepoints are always counted; others may have to take turns on the CPU's
// registers, and their values are scaled.
bool TreeCounters::is_shared(std::size_t event) const {
  const std::uint32_t type = events_[event].type;
  return type != PERF_TYPE_SOFTWARE && type != PERF_TYPE_TRACEPOINT;
}

std::vector<Counted> TreeCounters::totals() const {
  std::vector<Counted> totals;
  for (std::size_t event = 0; event < events_.size(); ++event) {
    for (const Cpu& cpu : cpus_) {
      Counted& total = totals.emplace_back(read_counter(cpu.counters[event]));
      if (!is_shared(event)) total.enabled = total.running = 0;
    }
  }
  return totals;
}

}  // namespace fathom::sources
