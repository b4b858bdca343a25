// SPDX-License-Identifier: MIT
// Counters of a program and all that comes from it, one for each event and CPU, which tell what
// each thread counted when it ends: an event that children inherit has a ring on one CPU only.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "perf/event.h"
#include "perf/records.h"
#include "perf/ring.h"
#include "sources/perf/process_counts.h"
#include "sources/perf/record_queue.h"

namespace fathom::sources {

// One thread at a time.
class TreeCounters {
 public:
  // Of a process that is to become a program, from then on. Events that are refused are left out.
  static TreeCounters open(pid_t process, const std::vector<perf::Event>& events);

  // Those that are counted.
  [[nodiscard]] const std::vector<perf::Event>& events() const { return events_; }
  // What is not, or only in part, as sentences: "cycles: this machine has no hardware counters".
  [[nodiscard]] const std::vector<std::string>& refused() const { return refused_; }
  [[nodiscard]] std::size_t cpus() const { return cpus_.size(); }

  // Adds what the rings hold.
  void read(RecordQueue& records);
  [[nodiscard]] const perf::RecordReader& reader() const { return reader_; }
  // Event and place of the CPU; none: of no event of ours.
  struct Which {
    std::size_t event = 0;
    std::size_t cpu = 0;
  };
  [[nodiscard]] std::optional<Which> which(std::uint64_t id) const;
  // Whether a CPU may have to share its counters among events such as this one. The kernel's own
  // are counted all the time, whatever their two clocks say of a life of milliseconds.
  [[nodiscard]] bool is_shared(std::size_t event) const;
  // By event, then CPU: all that was counted.
  [[nodiscard]] std::vector<Counted> totals() const;
  // Records that there was no room for, or that made no sense, since the last time.
  [[nodiscard]] std::uint64_t take_lost() { return std::exchange(lost_, 0); }

 private:
  // A ring, and the counters that write into it, by event.
  struct Cpu {
    Fd lives;  // tells of threads that begin and end
    perf::Ring ring;
    std::vector<Fd> counters;
  };
  explicit TreeCounters(const perf_event_attr& attr) : reader_(attr) {}
  Status prevent_swaps(pid_t process);
  Status add_cpu(pid_t process, int cpu);
  // On all CPUs, or nowhere.
  Result<bool> add_event(pid_t process, const perf::Event& event);

  perf::RecordReader reader_;
  Fd uninherited_;            // see prevent_swaps()
  std::vector<int> numbers_;  // of the CPUs
  std::vector<Cpu> cpus_;
  std::vector<perf::Event> events_;
  std::vector<std::string> refused_;
  std::map<std::uint64_t, Which> ids_;
  std::uint64_t lost_ = 0;
};

}  // namespace fathom::sources
