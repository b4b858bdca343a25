// SPDX-License-Identifier: MIT
// Two events on each CPU: the clock, which also brings records of switches, mappings and lives, and
// one that happens where a thread leaves the CPU, for the stack that it leaves from. The second one
// happens inside of the kernel, so only who may see the kernel has it.
#include "sources/perf/sampled_events.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <ctime>
#include <utility>

#include "base/cpus.h"
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
constexpr std::size_t kLeavingsOfRoom = 256;
constexpr std::size_t kMostStackOfLeaving = 32768;

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
  attr.enable_on_exec = options.from_exec ? 1 : 0;
  attr.inherit = 1;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;
  attr.wakeup_watermark = 1;  // who does not care for each record does not wait for it
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
std::optional<Error> refusal_of_kernel(pid_t process, const SamplingOptions& options) {
  perf_event_attr attr = with_side_records(sampling_attr(options, true, kSmallRing));
  const Result<Fd> opened = perf::open_event(attr, {.pid = process, .cpu = online_cpus().front()});
  return opened ? std::nullopt : std::optional(opened.error());
}

}  // namespace

Result<SampledEvents> SampledEvents::open(pid_t process, const SamplingOptions& options) {
  const std::vector<int> cpus = online_cpus();
  std::optional<Error> refused = refusal_of_kernel(process, options);
  const std::size_t ring = ring_bytes(!refused, cpus.size(), options.hz);
  SampledEvents events(sampling_attr(options, !refused, ring));
  events.kernel_refusal_ = std::move(refused);
  events.ring_bytes_ = ring;
  for (const int cpu : cpus) FATHOM_TRY(events.add_cpu(process, cpu, options));
  return events;
}

Status SampledEvents::add_cpu(pid_t process, int cpu, const SamplingOptions& options) {
  perf_event_attr attr = with_side_records(sampling_attr(options, sees_kernel(), ring_bytes_));
  FATHOM_ASSIGN(Fd clock, perf::open_event(attr, {.pid = process, .cpu = cpu}));
  FATHOM_ASSIGN(perf::Ring ring, perf::Ring::map(clock.get(), ring_bytes_));
  Cpu made{{std::move(clock), std::move(ring)}, std::nullopt};
  if (sees_kernel()) add_leaving(process, options, cpu, made);
  if (!options.from_exec) {
    ::ioctl(made.clock.event.get(), PERF_EVENT_IOC_ENABLE, 0);
    if (made.leaving) ::ioctl(made.leaving->event.get(), PERF_EVENT_IOC_ENABLE, 0);
  }
  cpus_.push_back(std::move(made));
  return {};
}

void SampledEvents::add_leaving(pid_t process, const SamplingOptions& options, int cpu, Cpu& to) {
  const std::size_t bytes = std::min(ring_bytes_, kLargeRing);
  perf_event_attr attr = sampling_attr(options, true, bytes);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
  attr.config1 = attr.config2 = 0;
  attr.freq = 0;
  attr.sample_period = 1;
  attr.sample_stack_user = stack_of_leaving(bytes);
  Result<Fd> event = perf::open_event(attr, {.pid = process, .cpu = cpu});
  std::uint64_t id = 0;
  if (!event || ::ioctl(event->get(), PERF_EVENT_IOC_ID, &id) != 0) return;
  Result<perf::Ring> ring = perf::Ring::map(event->get(), bytes);
  if (!ring) return;
  to.leaving = Sampler{std::move(event).value(), std::move(ring).value()};
  leaving_.push_back(id);
}

SampleOf SampledEvents::which(const perf::SampleId& id) const {
  return std::ranges::find(leaving_, id.id) != leaving_.end() ? SampleOf::kLeaving
                                                              : SampleOf::kEvent;
}

std::uint64_t SampledEvents::read(perf::Ring& ring, bool own_losses, RecordQueue& records) {
  std::uint64_t missed = 0;
  const std::uint64_t before = ring.damaged();
  ring.drain([&](std::span<const std::byte> bytes) {
    const std::optional<perf::Record> record = reader_.read(bytes);
    const auto* lost = record ? std::get_if<perf::Lost>(&record->body) : nullptr;
    if (!record) {
      damaged_++;
    } else if (own_losses && lost != nullptr) {
      missed += lost->count;
    } else {
      records.add(record->id.time, bytes);
    }
  });
  damaged_ += ring.damaged() - before;
  return missed;
}

void SampledEvents::read(RecordQueue& records) {
  const std::uint64_t before = missed_;
  for (Cpu& cpu : cpus_) {
    read(cpu.clock.ring, false, records);
    if (cpu.leaving) missed_ += read(cpu.leaving->ring, true, records);
  }
  if (missed_ > before) stop_leaving();
}

// It leaves the CPU so often that asking from where costs more than the answer is worth.
void SampledEvents::stop_leaving() {
  for (const Cpu& cpu : cpus_) {
    if (cpu.leaving) ::ioctl(cpu.leaving->event.get(), PERF_EVENT_IOC_DISABLE, 0);
  }
}

bool SampledEvents::is_half_full() const {
  const auto half = [](const Sampler& sampler) {
    return sampler.ring.waiting() >= sampler.ring.bytes() / 2;
  };
  return std::ranges::any_of(cpus_, [&](const Cpu& cpu) {
    return half(cpu.clock) || (cpu.leaving && half(*cpu.leaving));
  });
}

// The kernel's own wakeups are for each record: looking at the rings now and then costs less.
void SampledEvents::wait(std::chrono::nanoseconds time, int wake) const {
  constexpr std::chrono::nanoseconds kLook = std::chrono::milliseconds(20);
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
  // Where all processes have ended, the kernel answers at once, again and again.
  const bool over = std::ranges::any_of(
      rings, [](const pollfd& ring) { return (ring.revents & (POLLHUP | POLLERR)) != 0; });
  if (over) (void)::poll(rings.data(), 1, static_cast<int>(time.count()));
}

}  // namespace fathom::sources
