// SPDX-License-Identifier: MIT
// The events that layer cpu opens, a pair for each thread and CPU. All on one CPU write into one
// ring: an event that children inherit may have a ring only on one CPU.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "perf/event.h"
#include "perf/records.h"
#include "perf/ring.h"
#include "sources/perf/record_queue.h"

namespace fathom::sources {

// What is sampled, and how often.
struct SamplingOptions {
  perf::Event event;  // what ticks
  double hz = 99;
};

// Which of the events a sample is of.
enum class SampleOf : std::uint8_t { kEvent, kLeaving };

// One thread at a time, but for wait().
class SampledEvents {
 public:
  // Rings, and nobody who fills them. With the kernel's part where this user may see it, else
  // without. An Error has words and the line that changes it (perf/open.h).
  static Result<SampledEvents> open(const SamplingOptions& options);

  SampledEvents(SampledEvents&&) noexcept = default;
  SampledEvents& operator=(SampledEvents&&) noexcept = default;
  SampledEvents(const SampledEvents&) = delete;
  SampledEvents& operator=(const SampledEvents&) = delete;
  ~SampledEvents() = default;

  enum class From : std::uint8_t { kExec, kNow };  // kExec: when it becomes another program
  // A thread of a process, and all that it makes from now on; other threads that run have to be
  // named as well. Takes two descriptors for each CPU. kNotFound: it has ended.
  Status follow(pid_t process, pid_t thread, From from);
  // Every thread of the machine.
  Status follow_all();
  // The threads that were named of this process are not followed any more, nor what they made.
  void leave(pid_t process) { followed_.erase(process); }
  // Gives back the descriptors of threads that have ended with all that they made.
  void forget_ended();
  // The rings of a process are not its child's: after a fork, while the parent lives.
  Status map_again();

  // Adds what the rings hold. Records that were written before the call are among them. `made`:
  // gets the threads that were made meanwhile.
  void read(RecordQueue& records, std::set<pid_t>* made = nullptr);
  // Returns when a ring is half full, the time has passed, or `wake` can be read.
  void wait(std::chrono::nanoseconds time, int wake) const;
  // Returns when there is a sample to read, the time has passed, or `wake` can be read.
  void wait_for_any(std::chrono::milliseconds time, int wake) const;

  [[nodiscard]] const perf::RecordReader& reader() const { return reader_; }
  [[nodiscard]] SampleOf which(const perf::SampleId& id) const;
  [[nodiscard]] bool sees_kernel() const { return !kernel_refusal_; }
  // Why not, and the line that changes it.
  [[nodiscard]] Error kernel_refusal() const { return kernel_refusal_.value_or(Error{}); }
  // Records that made no sense, since the last time.
  [[nodiscard]] std::uint64_t take_damaged() { return std::exchange(damaged_, 0); }

 private:
  // A ring, and the event that it belongs to: one of our own that never happens, since those of a
  // thread end with it.
  struct Sink {
    Fd event;
    perf::Ring ring;
  };
  struct Cpu {
    int number = 0;
    Sink clock;
    // With a ring of its own: a program may leave the CPU so often that there is no room for all of
    // its stacks, and that must cost nothing else.
    std::optional<Sink> leaving;
  };
  // The two events of a thread on one CPU.
  struct Pair {
    Fd clock;
    Fd leaving;  // none where the kernel is hidden
    std::uint64_t leaving_id = 0;
  };

  explicit SampledEvents(const perf_event_attr& attr);
  Status add_cpu(int cpu);
  Result<Pair> open_pair(const Cpu& cpu, pid_t thread, From from);
  void add_leaving(const Cpu& cpu, pid_t thread, From from, Pair& to);
  // Gives back how many samples there were. `own_losses`: the ring holds stacks of waits. A wait
  // without one is counted later, so records of what the kernel had no room for are left out.
  std::uint64_t read(perf::Ring& ring, bool own_losses, RecordQueue& records,
                     std::set<pid_t>* made);
  void spend_on_leaving(std::uint64_t stacks);
  void ask_for_leaving(bool asks);
  [[nodiscard]] bool is_half_full() const;

  perf::RecordReader reader_;
  SamplingOptions options_;
  std::vector<Cpu> cpus_;
  std::map<pid_t, std::vector<Pair>> followed_;  // by process
  std::unordered_set<std::uint64_t> leaving_;    // ids of the events that see threads leave
  std::vector<std::uint64_t> ended_leaving_;     // those of them that will tell no more
  std::optional<Error> kernel_refusal_;
  std::size_t ring_bytes_ = 0;
  bool asks_for_leaving_ = true;
  double leaving_left_;  // how many more of these stacks may be taken now
  std::chrono::steady_clock::time_point leaving_counted_ = std::chrono::steady_clock::now();
  std::uint64_t damaged_ = 0;
};

}  // namespace fathom::sources
