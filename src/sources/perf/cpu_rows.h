// SPDX-License-Identifier: MIT
// The kernel's records, in order of time, into rows: samples with their stacks, stretches off the
// CPU, lives of processes and threads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "perf/records.h"
#include "sources/perf/found_process.h"
#include "sources/perf/proc_look.h"
#include "sources/perf/process_maps.h"
#include "sources/perf/sampled_events.h"
#include "sources/perf/stack_frames.h"
#include "sources/perf/thread_account.h"
#include "sources/source.h"
#include "symbols/kept_files.h"
#include "trace/decode/host_rows.h"

namespace fathom::sources {

// What holds for a whole recording.
struct CpuRowsOptions {
  std::int64_t start_monotonic_ns = 0;  // where ts is 0
  std::string event;                    // what ticks
  bool is_clock = true;                 // samples stand for time, not for what they count
  std::string rung;                     // how processes are seen
  bool sees_leaving = false;            // stacks of waits come
  bool no_command = false;              // arguments of programs are not recorded
  KernelNames kernel;
  std::shared_ptr<symbols::KeptFiles> files = nullptr;  // where files are kept that programs map
  StackLimits limits = {};
};

// Whether a process that becomes another program is to be recorded.
using Chooses = std::function<bool(std::int32_t pid)>;

// One thread at a time.
class CpuRows {
 public:
  explicit CpuRows(const CpuRowsOptions& options);

  // Reads what processes tell of code that they made at run time; before the records of that time.
  void refresh() { frames_.jit().refresh(); }
  // A record, `of` matters where it is a sample.
  void take(const perf::Record& record, SampleOf of);
  // From now on records of the whole machine come. Those of processes that nobody found, that were
  // not made by one that is recorded, and that this does not choose are left out.
  void choose(Chooses chooses) { chooses_ = std::move(chooses); }
  // A process that ran before, with those of its threads that are looked at since then. Comes
  // before the records of the time after it; `looked_ns` is when /proc was read.
  void found(const FoundProcess& process, std::int64_t since_ns, std::int64_t looked_ns);
  // What /proc said of a thread, once the records of before it are taken.
  void asleep(std::int32_t pid, const FoundThread& thread);
  // Threads that sleep since before then, in whatever they were last sampled; and what /proc said
  // of one of them, once the records of before that look are taken.
  [[nodiscard]] std::vector<ThreadId> asleep_somewhere(std::int64_t monotonic_ns) const {
    return account_.asleep_somewhere(monotonic_ns - options_.start_monotonic_ns);
  }
  void slept_in(ThreadId thread, const ThreadLook& look, std::int64_t looked_ns);
  // Threads of which that is wanted.
  [[nodiscard]] std::vector<ThreadId> lost_asleep() const { return account_.lost_asleep(); }
  // Threads of a process that runs were refused to us.
  void refused_threads(std::uint64_t count);
  // Nobody reads the rings any more.
  void gave_up();
  // A process is not recorded any more, but what it made before is.
  void leave(std::int32_t pid, std::int64_t monotonic_ns);
  // Processes that are not there any more. Where nothing told of their end, some of their threads
  // were refused, or the ring had no room: forget() them, after the records of before are taken.
  [[nodiscard]] std::vector<std::int32_t> gone() const;
  void forget(const std::vector<std::int32_t>& gone, std::int64_t monotonic_ns);
  [[nodiscard]] bool knows(std::int32_t pid) const { return processes_.contains(pid); }
  // Whether some process that it made, or one of those made, is recorded.
  [[nodiscard]] bool has_descendants(std::int32_t pid) const;
  [[nodiscard]] std::vector<Followed> followed() const;
  // Another recording begins now: gives the last rows of this one. begin_anew() follows.
  void cut(std::int64_t monotonic_ns, trace::Strings& strings, trace::HostRows& last);
  // The other one, where ts 0 is `start`; `now` is the moment of the cut.
  void begin_anew(std::int64_t start_monotonic_ns, std::int64_t now);
  // Nobody looks any more.
  void stop(std::int64_t monotonic_ns);
  // Moves what there is behind the rows that are there.
  void drain(trace::Strings& strings, trace::HostRows& rows);

  // Threads that have slept since the last time: the kernel may be asked how long they were ready.
  [[nodiscard]] std::vector<ThreadId> take_slept();
  void damaged_records(std::uint64_t count) {
    if (count > 0) count_loss("records that made no sense", count);
  }
  void ready(ThreadId thread, std::int64_t ns) { account_.ready(thread, ns); }
  // What is asked of processes from now on is as it is then.
  void look_anew() { frames_.python().forget(); }
  // Whether stacks are complete only if they are taken up soon after their sample.
  [[nodiscard]] bool is_urgent() const { return frames_.python().anybody(); }
  [[nodiscard]] bool anybody_lives() const { return !processes_.empty(); }

 private:
  void take(const perf::SampleId& id, const perf::Sample& sample, SampleOf of);
  void take(const perf::SampleId& id, const perf::Switch& change);
  void take(const perf::SampleId& id, const perf::Comm& comm);
  void take(const perf::SampleId& id, const perf::Task& task);
  void take(const perf::SampleId& id, const perf::Mapping& mapping);
  void take(const perf::SampleId& id, const perf::Lost& lost);
  void take(const perf::SampleId& id, const perf::Throttle& throttle);
  template <class Other>
  void take(const perf::SampleId& /*id*/, const Other& /*body*/) {}

  // Whether a record is to be taken: the process that it speaks of (subject_of) was found, chosen
  // or made by one that is recorded, and was not left. Asked once for each record, in their order:
  // chooses_ is asked for a program that begins, and left_ follows those that were left.
  bool is_recorded(const perf::Record& record);
  void follow_left(const perf::Record& record);
  // The file of a mapping; nullptr: there is no room for more.
  const Module* module_of(std::int32_t pid, const CodeMapping& mapping, std::string_view build_id);
  void map_code(std::int32_t pid, const CodeMapping& mapping, std::string_view build_id);
  void end_thread(ThreadId thread, std::int64_t ts);
  void begin_process(std::int32_t pid, std::int64_t parent, std::int64_t ts,
                     const std::string& name);
  void end_process(std::int32_t pid, std::int64_t ts);
  void end_threads(std::int32_t pid, std::int64_t ts);
  void end_with_threads(std::int32_t pid, std::int64_t ts);
  void begin_program(ThreadId thread, std::int64_t ts, const std::string& name);
  void count_loss(const char* reason, std::uint64_t count);
  void count_losses_of_frames();
  [[nodiscard]] std::int64_t ts(std::uint64_t time) const {
    return static_cast<std::int64_t>(time) - options_.start_monotonic_ns;
  }

  CpuRowsOptions options_;
  trace::Strings strings_;
  std::uint32_t event_;
  ProcessMaps maps_;
  StackFrames frames_;
  ThreadAccount account_;
  struct Process {
    trace::ProcessRow row;
    int threads = 0;        // that live: it ends with the last of them
    std::int32_t root = 0;  // the process that was named, or found, of which it descends
    std::int64_t looked = trace::kNull;  // when its threads were found
  };

  Chooses chooses_;                            // nullptr: all that records come of
  std::set<std::int32_t> left_;                // processes that live and are not to be recorded
  std::map<std::int32_t, Process> processes_;  // that live
  std::map<ThreadId, std::string> names_;      // of threads that live, and of those in ended_
  std::vector<ThreadId> ended_;                // since the last drain()
  std::set<ThreadId> slept_;                   // since take_slept()
  trace::HostRows rows_;                       // as codes of strings_
  std::map<std::string, std::uint64_t> losses_;
};

}  // namespace fathom::sources
