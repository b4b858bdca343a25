// SPDX-License-Identifier: MIT
// The events that layer cpu opens, one set for each CPU with a ring of its own: an event that
// children inherit may have a ring only on one CPU.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
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
  // Returns when a ring is half full, the time has passed, or `wake` can be read.
  void wait(std::chrono::nanoseconds time, int wake) const;
  // Returns when there is anything to read, the time has passed, or `wake` can be read.
  void wait_for_any(std::chrono::milliseconds time, int wake) const;

  [[nodiscard]] const perf::RecordReader& reader() const { return reader_; }
  [[nodiscard]] SampleOf which(const perf::SampleId& id) const;
  [[nodiscard]] bool sees_kernel() const { return !kernel_refusal_; }
  // Why not, and the line that changes it.
  [[nodiscard]] Error kernel_refusal() const { return kernel_refusal_.value_or(Error{}); }
  // Stacks that threads left the CPU from and that nobody had room for, since the last time.
  [[nodiscard]] std::uint64_t take_missed() { return std::exchange(missed_, 0); }
  // Records that made no sense, since the last time.
  [[nodiscard]] std::uint64_t take_damaged() { return std::exchange(damaged_, 0); }

 private:
  // An event and its ring.
  struct Sampler {
    Fd event;
    perf::Ring ring;
  };
  struct Cpu {
    Sampler clock;
    // With a ring of its own: a program may leave the CPU so often that there is no room for all of
    // its stacks, and that must cost nothing else.
    std::optional<Sampler> leaving;
  };

  explicit SampledEvents(const perf_event_attr& attr) : reader_(attr) {}
  Status add_cpu(pid_t process, int cpu, const SamplingOptions& options);
  void add_leaving(pid_t process, const SamplingOptions& options, int cpu, Cpu& to);
  // Gives back how many records the kernel had no room for, where `own_losses`; else these records
  // are handed on like others.
  std::uint64_t read(perf::Ring& ring, bool own_losses, RecordQueue& records);
  void stop_leaving();
  [[nodiscard]] bool is_half_full() const;

  perf::RecordReader reader_;
  std::vector<Cpu> cpus_;
  std::vector<std::uint64_t> leaving_;  // ids of the events that see threads leave
  std::optional<Error> kernel_refusal_;
  std::size_t ring_bytes_ = 0;
  std::uint64_t missed_ = 0;
  std::uint64_t damaged_ = 0;
};

}  // namespace fathom::sources
