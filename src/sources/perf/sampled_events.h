// SPDX-License-Identifier: MIT
// The events that layer cpu opens, one set for each CPU with a ring of its own: an event that
// children inherit may have a ring only on one CPU.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "perf/event.h"
#include "perf/records.h"
#include "perf/ring.h"
#include "sources/perf/record_queue.h"

namespace fathom::sources {

struct SamplingOptions {
  perf::Event event;  // what ticks
  double hz = 99;
  bool from_exec = true;  // begins when the process becomes another program; else at once
  std::size_t ring_bytes = std::size_t{1} << 20;
};

// Which of the events a sample is of.
enum class SampleOf : std::uint8_t { kEvent, kLeaving };

// One thread at a time.
class SampledEvents {
 public:
  // Of a process and all that it makes from now on. With the kernel's part where this user may see
  // it, else without. An Error has words and the line that changes it (perf/open.h).
  static Result<SampledEvents> open(pid_t process, const SamplingOptions& options);

  SampledEvents(SampledEvents&&) noexcept = default;
  SampledEvents& operator=(SampledEvents&&) noexcept = default;
  SampledEvents(const SampledEvents&) = delete;
  SampledEvents& operator=(const SampledEvents&) = delete;
  ~SampledEvents() = default;

  // Adds what the rings hold. Records that were written before the call are among them.
  void read(RecordQueue& records);
  // Returns when a ring is half full, or the time has passed.
  void wait(std::chrono::milliseconds time) const;

  [[nodiscard]] const perf::RecordReader& reader() const { return reader_; }
  [[nodiscard]] SampleOf which(const perf::SampleId& id) const;
  [[nodiscard]] bool sees_kernel() const { return sees_kernel_; }
  // Whether samples come where a thread leaves the CPU.
  [[nodiscard]] bool sees_leaving() const { return !leaving_.empty(); }
  // Records that made no sense.
  [[nodiscard]] std::uint64_t damaged() const { return damaged_; }

 private:
  struct Cpu {
    Fd clock;
    Fd leaving;
    perf::Ring ring;
  };

  explicit SampledEvents(const perf_event_attr& attr) : reader_(attr) {}
  Status add_cpu(pid_t process, int cpu, perf_event_attr attr, const SamplingOptions& options);
  void add_leaving(pid_t process, int cpu, perf_event_attr attr, Cpu& to);

  perf::RecordReader reader_;
  std::vector<Cpu> cpus_;
  std::vector<std::uint64_t> leaving_;  // ids of the events that see threads leave
  bool sees_kernel_ = false;
  std::uint64_t damaged_ = 0;
};

}  // namespace fathom::sources
