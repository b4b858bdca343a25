// SPDX-License-Identifier: MIT
// Looks at threads, one after the other, into rows: how long each ran, was ready and slept between
// two looks, and what it slept in. The times are the kernel's own sums, so that nothing is missing
// between two looks; what is not known is where inside of that time the parts lie.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sources/perf/proc_look.h"
#include "sources/perf/thread_account.h"
#include "sources/source.h"
#include "trace/decode/host_rows.h"

namespace fathom::sources {

// What holds for a whole recording.
struct ProcRowsOptions {
  std::int64_t start_monotonic_ns = 0;  // where ts is 0
  bool no_command = false;              // arguments of programs are not recorded
  // The library tells of every life: those that are too short for a look need no row of ours.
  bool lives_are_told = false;
};

// One thread at a time. Times are those of the monotonic clock.
class ProcRows {
 public:
  explicit ProcRows(const ProcRowsOptions& options);

  // The program's process before it is the program: what it used so far is not the program's.
  void adopt(const ProcessLook& look, std::int64_t now);
  // A process that runs and is looked at from now on: what it used before is not told.
  void join(const ProcessLook& look, std::int64_t now, const ProcReader& reader);
  // It is not looked at any more.
  void leave(std::int32_t pid);
  [[nodiscard]] std::vector<Followed> followed() const;
  // All that live. `reader` is asked for names of files and arguments of new programs.
  void look(const std::vector<ProcessLook>& processes, std::int64_t now, const ProcReader& reader);
  // Another recording begins now: gives the last rows of this one. begin_anew() follows.
  void cut(trace::Strings& strings, trace::HostRows& last);
  // The other one, where ts 0 is `start`; `now` is the moment of the cut.
  void begin_anew(std::int64_t start, std::int64_t now);
  // Nobody looks any more. `used` is what the first process used, with all processes that it waited
  // for; none: nobody knows.
  void stop(std::int64_t now, std::optional<std::int64_t> used);
  // Moves what there is behind the rows that are there.
  void drain(trace::Strings& strings, trace::HostRows& rows);

 private:
  struct Thread {
    std::int64_t until = 0;                 // up to where its time is told
    SchedStat times;                        // by then
    bool asleep = false;                    // a stretch of sleep is open
    std::int64_t asleep_in = trace::kNull;  // as a stack
  };
  struct Process {
    trace::ProcessRow row;
    std::uint64_t start_stack = 0;
    bool is_program = true;                // false: it is about to become one
    std::string file;                      // of the program
    std::int64_t computes = trace::kNull;  // the stack of what it computes
    std::int64_t seen = 0;                 // when it was looked at last
    std::int64_t told = 0;                 // ns that its threads ran, as far as is told
    std::map<std::int32_t, Thread> threads;
  };
  // Time between two looks.
  struct Parts {
    std::int64_t ran = 0;
    std::int64_t ready = 0;
    std::int64_t slept = 0;
    [[nodiscard]] bool only_slept() const { return ran == 0 && ready == 0; }
  };

  Process& begin_process(const ProcessLook& look, std::int64_t start, const ProcReader* reader);
  [[nodiscard]] std::int64_t start_of(const ProcessLook& look, std::int64_t now) const;
  void become_program(Process& process, const ProcessLook& look, const ProcReader& reader);
  void become_another(Process& process, const ProcessLook& look, std::int64_t now,
                      const ProcReader& reader);
  Thread& add_thread(Process& process, std::int32_t tid, std::int64_t start);
  std::int64_t stack_of_computing(const Process& process);
  void end_threads(Process& process);
  void end_process(Process& process);
  void look(Process& process, const ProcessLook& look, std::int64_t now, const ProcReader& reader);
  void look(Process& process, const ThreadLook& look, std::int64_t now);
  Thread& begin_thread(Process& process, const ThreadLook& look, std::int64_t now);
  void end_thread(Process& process, std::int32_t tid);
  // Threads that are gone, and what they and unseen ones used since the last look.
  void settle(Process& process, const ProcessLook& look, std::int64_t now);
  [[nodiscard]] static Parts parts_of(const Thread& thread, const ThreadLook& look,
                                      std::int64_t now, std::int64_t last_look);
  void tell(Process& process, ThreadId id, Thread& thread, const ThreadLook& look,
            std::int64_t now);
  // Goes on with the stretch that is open, or begins one at `at`.
  void tell_sleep(ThreadId id, Thread& thread, std::int64_t at, std::int64_t in, bool goes_on);
  void tell_run(Process& process, ThreadId id, std::int64_t from, std::int64_t ns,
                std::int32_t cpu);
  // CPU time of lives that nobody saw.
  void tell_unseen(std::int32_t pid, std::int64_t ns, std::int64_t now);
  std::int64_t stack_of(std::vector<trace::Frame> frames);
  std::int64_t stack_of_sleep(const ThreadLook& look);
  [[nodiscard]] std::int64_t ts(std::int64_t monotonic) const {
    return monotonic - options_.start_monotonic_ns;
  }

  ProcRowsOptions options_;
  trace::Strings strings_;
  trace::StackTable stacks_;
  ThreadAccount account_;
  std::map<std::int32_t, Process> processes_;  // that live
  std::map<ThreadId, std::string> names_;      // of threads that live, and of those in ended_
  std::vector<ThreadId> ended_;                // since the last drain()
  std::int32_t root_ = 0;
  std::int64_t last_look_ = 0;
  std::int64_t told_ = 0;  // ns that threads of the first process ran, and of all that have ended
  trace::Lives lives_;
  std::vector<trace::SampleRow> unseen_;
};

}  // namespace fathom::sources
