// SPDX-License-Identifier: MIT
// Two events on each CPU share a ring: the clock, which also brings records of switches, mappings
// and lives, and one that happens where a thread leaves the CPU, for the stack that it leaves from.
// The second one happens inside of the kernel, so only who may see the kernel has it.
#include "sources/perf/sampled_events.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "base/cpus.h"
#include "perf/open.h"

namespace fathom::sources {
namespace {

perf_event_attr sampling_attr(const SamplingOptions& options, bool with_kernel) {
  perf_event_attr attr = options.event.attr();
  attr.freq = 1;
  attr.sample_freq = static_cast<std::uint64_t>(options.hz);
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                     PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN;
  attr.disabled = 1;
  attr.enable_on_exec = options.from_exec ? 1 : 0;
  attr.inherit = 1;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;
  attr.wakeup_watermark = static_cast<std::uint32_t>(options.ring_bytes / 2);
  if (!with_kernel) {
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    attr.exclude_callchain_kernel = 1;
  }
  return attr;
}

// What is told beside the samples: who lives, what is mapped where, who is on the CPU.
void add_side_records(perf_event_attr& attr) {
  attr.mmap = 1;
  attr.mmap2 = 1;
  attr.build_id = 1;
  attr.comm = 1;
  attr.comm_exec = 1;
  attr.task = 1;
  attr.context_switch = 1;
}

bool see_kernel(pid_t process, const SamplingOptions& options) {
  perf_event_attr attr = sampling_attr(options, true);
  add_side_records(attr);
  return perf::open_event(attr, {.pid = process, .cpu = 0}).has_value();
}

}  // namespace

Result<SampledEvents> SampledEvents::open(pid_t process, const SamplingOptions& options) {
  const bool with_kernel = see_kernel(process, options);
  perf_event_attr attr = sampling_attr(options, with_kernel);
  SampledEvents events(attr);
  events.sees_kernel_ = with_kernel;
  add_side_records(attr);
  for (const int cpu : online_cpus()) FATHOM_TRY(events.add_cpu(process, cpu, attr, options));
  return events;
}

Status SampledEvents::add_cpu(pid_t process, int cpu, perf_event_attr attr,
                              const SamplingOptions& options) {
  FATHOM_ASSIGN(Fd clock, perf::open_event(attr, {.pid = process, .cpu = cpu}));
  FATHOM_ASSIGN(perf::Ring ring, perf::Ring::map(clock.get(), options.ring_bytes));
  Cpu made{std::move(clock), Fd(), std::move(ring)};
  if (sees_kernel_) add_leaving(process, cpu, sampling_attr(options, true), made);
  if (!options.from_exec) {
    ::ioctl(made.clock.get(), PERF_EVENT_IOC_ENABLE, 0);
    if (made.leaving.valid()) ::ioctl(made.leaving.get(), PERF_EVENT_IOC_ENABLE, 0);
  }
  cpus_.push_back(std::move(made));
  return {};
}

void SampledEvents::add_leaving(pid_t process, int cpu, perf_event_attr attr, Cpu& to) {
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
  attr.config1 = attr.config2 = 0;
  attr.freq = 0;
  attr.sample_period = 1;
  Result<Fd> leaving = perf::open_event(attr, {.pid = process, .cpu = cpu});
  std::uint64_t id = 0;
  if (!leaving || ::ioctl(leaving->get(), PERF_EVENT_IOC_SET_OUTPUT, to.clock.get()) != 0 ||
      ::ioctl(leaving->get(), PERF_EVENT_IOC_ID, &id) != 0)
    return;
  to.leaving = std::move(leaving).value();
  leaving_.push_back(id);
}

SampleOf SampledEvents::which(const perf::SampleId& id) const {
  return std::ranges::find(leaving_, id.id) != leaving_.end() ? SampleOf::kLeaving
                                                              : SampleOf::kEvent;
}

void SampledEvents::read(RecordQueue& records) {
  for (Cpu& cpu : cpus_) {
    cpu.ring.drain([&](std::span<const std::byte> bytes) {
      const std::optional<perf::Record> record = reader_.read(bytes);
      if (!record) {
        damaged_++;
        return;
      }
      records.add(record->id.time, bytes);
    });
  }
}

void SampledEvents::wait(std::chrono::milliseconds time) const {
  std::vector<pollfd> rings;
  for (const Cpu& cpu : cpus_) rings.push_back({cpu.clock.get(), POLLIN, 0});
  (void)::poll(rings.data(), rings.size(), static_cast<int>(time.count()));
  // Where all processes have ended, the kernel answers at once, again and again.
  const bool over = std::ranges::any_of(
      rings, [](const pollfd& ring) { return (ring.revents & (POLLHUP | POLLERR)) != 0; });
  if (over) std::this_thread::sleep_for(time);
}

}  // namespace fathom::sources
