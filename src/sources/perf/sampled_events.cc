// SPDX-License-Identifier: MIT
// Two events of a thread on each CPU: the clock, which also brings records of switches, mappings
// and lives, and one that happens where a thread leaves the CPU, for the stack that it leaves from.
// The second one happens inside of the kernel, so only who may see the kernel has it.
#include "sources/perf/sampled_events.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <ctime>
#include <iterator>
#include <utility>

#include "base/cpus.h"
#include "base/os_error.h"
#include "perf/open.h"
#include "symbols/unwind/registers.h"

namespace fathom::sources {
namespace {

// What everybody may lock for a CPU's ring, and what is taken where there is no such limit: more
// than that only for a high rate.
constexpr std::size_t kSmallRing = std::size_t{512} << 10;
constexpr std::size_t kLargeRing = std::size_t{8} << 20;
constexpr std::size_t kAllRings = std::size_t{64} << 20;
// A ring is read ten times a second, or when it is half full: on a busy machine, who reads it may
// have to wait for a CPU for some tenths of a second.
constexpr double kSecondsOfRoom = 0.5;
constexpr std::size_t kLeastStack = 1024;
constexpr std::size_t kMostStack = 49152;  // a record has less than 65536 bytes
// A program that leaves the CPU often has stacks for this many times before they are read.
constexpr std::size_t kLeavingsOfRoom = 512;
constexpr std::size_t kMostStackOfLeaving = 16384;
// Naming the functions of a stack takes about ten microseconds. A program that leaves the CPU more
// often than this is asked where it leaves from now and then only, so that asking takes no more
// than some hundredths of a CPU.
constexpr double kLeavingsPerSecond = 5000;
constexpr double kMostLeavingsAtOnce = 2500;
constexpr pid_t kEverybody = -1;

std::size_t ring_bytes(bool with_kernel, std::size_t cpus, double hz) {
  if (!with_kernel) return kSmallRing;
  const double wanted = hz * kSecondsOfRoom * static_cast<double>(kMostStack);
  const std::size_t share = std::bit_floor(std::max(kAllRings / cpus, kSmallRing));
  if (wanted >= static_cast<double>(share)) return share;
  return std::min(share, std::max(kLargeRing, std::bit_ceil(static_cast<std::size_t>(wanted))));
}

std::uint32_t stack_bytes(std::size_t ring, double hz) {
  const double room = static_cast<double>(ring) / (hz * kSecondsOfRoom);
  const auto bytes = static_cast<std::size_t>(
      std::clamp(room, static_cast<double>(kLeastStack), static_cast<double>(kMostStack)));
  return static_cast<std::uint32_t>(bytes / sizeof(std::uint64_t) * sizeof(std::uint64_t));
}

std::uint32_t stack_of_leaving(std::size_t ring) {
  return static_cast<std::uint32_t>(
      std::clamp(ring / kLeavingsOfRoom, kLeastStack, kMostStackOfLeaving));
}

perf_event_attr sampling_attr(const SamplingOptions& options, bool with_kernel, std::size_t ring) {
  perf_event_attr attr = options.event.attr();
  attr.freq = 1;
  attr.sample_freq = static_cast<std::uint64_t>(options.hz);
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                     PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
                     PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attr.sample_regs_user = symbols::perf_register_mask(symbols::kThisMachine);
  attr.sample_stack_user = stack_bytes(ring, options.hz);
  attr.disabled = 1;
  attr.inherit = 1;
  attr.exclude_idle = 1;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.wakeup_events = 1;  // by samples: one that switches woke would switch, and be woken again
  if (!with_kernel) {
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    attr.exclude_callchain_kernel = 1;
  }
  return attr;
}

// What is told beside the samples: who lives, what is mapped where, who is on the CPU.
perf_event_attr with_side_records(perf_event_attr attr) {
  attr.mmap = 1;
  attr.mmap2 = 1;
  attr.build_id = 1;
  attr.comm = 1;
  attr.comm_exec = 1;
  attr.task = 1;
  attr.context_switch = 1;
  return attr;
}

// Why this user may not see the kernel's part.
std::optional<Error> refusal_of_kernel(const SamplingOptions& options) {
  perf_event_attr attr = with_side_records(sampling_attr(options, true, kSmallRing));
  const Result<Fd> opened = perf::open_event(attr, {.pid = 0, .cpu = online_cpus().front()});
  return opened ? std::nullopt : std::optional(opened.error());
}

// An event that never happens has a place for a ring like any other.
Result<Fd> open_sink(perf_event_attr attr, std::size_t ring, int cpu) {
  attr.wakeup_events = 0;
  attr.watermark = 1;
  attr.wakeup_watermark = static_cast<std::uint32_t>(ring / 2);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.config1 = attr.config2 = 0;
  attr.inherit = 0;
  attr.exclude_kernel = attr.exclude_hv = attr.exclude_callchain_kernel = 1;
  return perf::open_event(attr, {.pid = 0, .cpu = cpu});
}

Result<Fd> open_into(perf_event_attr& attr, pid_t thread, int cpu, const Fd& sink) {
  FATHOM_ASSIGN(Fd event, perf::open_event(attr, {.pid = thread, .cpu = cpu}));
  if (::ioctl(event.get(), PERF_EVENT_IOC_SET_OUTPUT, sink.get()) != 0)
    return os_error(errno, "lead a performance event into a ring");
  return event;
}

// The kernel says so of an event as soon as the last thread that has it has ended.
bool has_ended(const pollfd& event) { return (event.revents & (POLLHUP | POLLERR)) != 0; }

}  // namespace

SampledEvents::SampledEvents(const perf_event_attr& attr)
    : reader_(attr), leaving_left_(kMostLeavingsAtOnce) {}

Result<SampledEvents> SampledEvents::open(const SamplingOptions& options) {
  const std::vector<int> cpus = online_cpus();
  std::optional<Error> refused = refusal_of_kernel(options);
  const std::size_t ring = ring_bytes(!refused, cpus.size(), options.hz);
  SampledEvents events(sampling_attr(options, !refused, ring));
  events.options_ = options;
  events.kernel_refusal_ = std::move(refused);
  events.ring_bytes_ = ring;
  for (const int cpu : cpus) FATHOM_TRY(events.add_cpu(cpu));
  return events;
}

Status SampledEvents::add_cpu(int cpu) {
  FATHOM_ASSIGN(Fd clock,
                open_sink(sampling_attr(options_, sees_kernel(), ring_bytes_), ring_bytes_, cpu));
  FATHOM_ASSIGN(perf::Ring ring, perf::Ring::map(clock.get(), ring_bytes_));
  Cpu made{cpu, {std::move(clock), std::move(ring)}, std::nullopt};
  if (sees_kernel()) {
    const std::size_t bytes = std::min(ring_bytes_, kLargeRing);
    FATHOM_ASSIGN(Fd leaving, open_sink(sampling_attr(options_, true, bytes), bytes, cpu));
    Result<perf::Ring> second = perf::Ring::map(leaving.get(), bytes);
    if (second) made.leaving = Sink{std::move(leaving), std::move(second).value()};
  }
  cpus_.push_back(std::move(made));
  return {};
}

Result<SampledEvents::Pair> SampledEvents::open_pair(const Cpu& cpu, pid_t thread, From from) {
  perf_event_attr attr = with_side_records(sampling_attr(options_, sees_kernel(), ring_bytes_));
  attr.enable_on_exec = from == From::kExec ? 1 : 0;
  Pair pair;
  FATHOM_ASSIGN(pair.clock, open_into(attr, thread, cpu.number, cpu.clock.event));
  if (cpu.leaving) add_leaving(cpu, thread, from, pair);
  return pair;
}

void SampledEvents::add_leaving(const Cpu& cpu, pid_t thread, From from, Pair& to) {
  const std::size_t bytes = std::min(ring_bytes_, kLargeRing);
  perf_event_attr attr = sampling_attr(options_, true, bytes);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
  attr.config1 = attr.config2 = 0;
  attr.freq = 0;
  attr.sample_period = 1;
  attr.wakeup_events = 0;
  attr.sample_stack_user = stack_of_leaving(bytes);
  attr.enable_on_exec = from == From::kExec ? 1 : 0;
  Result<Fd> event = open_into(attr, thread, cpu.number, cpu.leaving->event);
  if (!event || ::ioctl(event->get(), PERF_EVENT_IOC_ID, &to.leaving_id) != 0) return;
  to.leaving = std::move(event).value();
  leaving_.insert(to.leaving_id);
}

// All of them are there before the first one tells something.
Status SampledEvents::follow(pid_t process, pid_t thread, From from) {
  std::vector<Pair> pairs;
  for (const Cpu& cpu : cpus_) {
    FATHOM_ASSIGN(Pair pair, open_pair(cpu, thread, from));
    pairs.push_back(std::move(pair));
  }
  for (const Pair& pair : pairs) {
    if (from == From::kExec) break;
    if (pair.leaving.valid() && asks_for_leaving_)
      ::ioctl(pair.leaving.get(), PERF_EVENT_IOC_ENABLE, 0);
    ::ioctl(pair.clock.get(), PERF_EVENT_IOC_ENABLE, 0);
  }
  std::vector<Pair>& all = followed_[process];
  std::ranges::move(pairs, std::back_inserter(all));
  return {};
}

Status SampledEvents::follow_all() { return follow(kEverybody, kEverybody, From::kNow); }

// Records of theirs may still wait to be read, and are told apart by the ids: these go next time.
void SampledEvents::forget_ended() {
  for (const std::uint64_t id : std::exchange(ended_leaving_, {})) leaving_.erase(id);
  for (auto& [process, pairs] : followed_) {
    std::vector<pollfd> looks;
    for (const Pair& pair : pairs) looks.push_back({pair.clock.get(), 0, 0});
    (void)::poll(looks.data(), looks.size(), 0);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (!has_ended(looks[i])) continue;
      ended_leaving_.push_back(pairs[i].leaving_id);
      pairs[i] = {};
    }
    std::erase_if(pairs, [](const Pair& pair) { return !pair.clock.valid(); });
  }
  std::erase_if(followed_, [](const auto& one) { return one.second.empty(); });
}

Status SampledEvents::map_again() {
  const auto map = [](Sink& sink) -> Status {
    sink.ring.forget();
    FATHOM_ASSIGN(sink.ring, perf::Ring::map(sink.event.get(), sink.ring.bytes()));
    return {};
  };
  for (Cpu& cpu : cpus_) {
    FATHOM_TRY(map(cpu.clock));
    if (cpu.leaving) FATHOM_TRY(map(*cpu.leaving));
  }
  return {};
}

SampleOf SampledEvents::which(const perf::SampleId& id) const {
  return leaving_.contains(id.id) ? SampleOf::kLeaving : SampleOf::kEvent;
}

std::uint64_t SampledEvents::read(perf::Ring& ring, bool own_losses, RecordQueue& records,
                                  std::set<pid_t>* made) {
  std::uint64_t samples = 0;
  const std::uint64_t before = ring.damaged();
  ring.drain([&](std::span<const std::byte> bytes) {
    const std::optional<perf::Record> record = reader_.read(bytes);
    if (!record) {
      damaged_++;
      return;
    }
    if (own_losses && std::holds_alternative<perf::Lost>(record->body)) return;
    if (std::holds_alternative<perf::Sample>(record->body)) samples++;
    const auto* task = made != nullptr ? std::get_if<perf::Task>(&record->body) : nullptr;
    if (task != nullptr && !task->is_exit) made->insert(static_cast<pid_t>(task->tid));
    records.add(record->id.time, bytes);
  });
  damaged_ += ring.damaged() - before;
  return samples;
}

void SampledEvents::read(RecordQueue& records, std::set<pid_t>* made) {
  std::uint64_t leavings = 0;
  for (Cpu& cpu : cpus_) {
    read(cpu.clock.ring, false, records, made);
    if (cpu.leaving) leavings += read(cpu.leaving->ring, true, records, nullptr);
  }
  spend_on_leaving(leavings);
}

void SampledEvents::spend_on_leaving(std::uint64_t stacks) {
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::duration<double> passed = now - std::exchange(leaving_counted_, now);
  leaving_left_ =
      std::min(kMostLeavingsAtOnce, leaving_left_ + passed.count() * kLeavingsPerSecond);
  leaving_left_ -= static_cast<double>(stacks);
  if (asks_for_leaving_ && leaving_left_ < 0) ask_for_leaving(false);
  if (!asks_for_leaving_ && leaving_left_ > kMostLeavingsAtOnce / 2) ask_for_leaving(true);
}

void SampledEvents::ask_for_leaving(bool asks) {
  asks_for_leaving_ = asks;
  for (const auto& [process, pairs] : followed_) {
    for (const Pair& pair : pairs) {
      const auto request = asks ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;
      if (pair.leaving.valid()) ::ioctl(pair.leaving.get(), request, 0);
    }
  }
}

bool SampledEvents::is_half_full() const {
  const auto half = [](const Sink& sink) { return sink.ring.waiting() >= sink.ring.bytes() / 2; };
  return std::ranges::any_of(cpus_, [&](const Cpu& cpu) {
    return half(cpu.clock) || (cpu.leaving && half(*cpu.leaving));
  });
}

// The kernel's own wakeups are for each sample: looking at the rings now and then costs less.
void SampledEvents::wait(std::chrono::nanoseconds time, int wake) const {
  constexpr std::chrono::nanoseconds kLook = std::chrono::milliseconds(5);
  const auto end = std::chrono::steady_clock::now() + time;
  while (!is_half_full()) {
    const std::chrono::nanoseconds left = end - std::chrono::steady_clock::now();
    if (left <= std::chrono::nanoseconds(0)) return;
    const auto look = static_cast<long>(std::min(left, kLook).count());
    const timespec time_left{0, look};
    pollfd woken{wake, POLLIN, 0};
    if (::ppoll(&woken, 1, &time_left, nullptr) > 0) return;
  }
}

void SampledEvents::wait_for_any(std::chrono::milliseconds time, int wake) const {
  std::vector<pollfd> rings = {{wake, POLLIN, 0}};
  for (const Cpu& cpu : cpus_) {
    rings.push_back({cpu.clock.event.get(), POLLIN, 0});
    if (cpu.leaving) rings.push_back({cpu.leaving->event.get(), POLLIN, 0});
  }
  (void)::poll(rings.data(), rings.size(), static_cast<int>(time.count()));
  // In a process that was left behind, the events that rings belong to have ended with its parent:
  // the kernel answers at once, again and again.
  if (std::ranges::any_of(rings, has_ended))
    (void)::poll(rings.data(), 1, static_cast<int>(time.count()));
}

}  // namespace fathom::sources
