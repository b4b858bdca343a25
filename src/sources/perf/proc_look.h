// SPDX-License-Identifier: MIT
// What /proc tells of a program's threads at one moment: how long each ran, and where it sleeps.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/proc_text.h"
#include "sources/perf/thread_account.h"

namespace fathom::sources {

// What one look at a thread told.
struct ThreadLook {
  std::int32_t tid = 0;
  std::string name;
  SchedStat times;
  bool awake = false;  // it runs, or could
  bool ended = false;  // and its process goes on without it, or waits to be reaped
  std::int32_t cpu = -1;
  std::int64_t start = 0;    // by the monotonic clock, in whole ticks of 10 ms
  std::string call;          // system call that it sleeps in; "": none, or it is not told
  std::string kernel_place;  // function of the kernel, likewise
  std::string user_place;    // function of libc, where the call's arguments tell
};

// What one look at a process told. Its threads were looked at one after the other.
struct ProcessLook {
  ProcessStat stat;
  std::int64_t ran = 0;  // ns of CPU of all its threads, those that have ended too
  std::vector<ThreadLook> threads;
};

// One thread.
class ProcReader {
 public:
  explicit ProcReader(std::string proc = "/proc");

  // Nothing where the process is gone.
  std::optional<ProcessLook> look(const ProcessStat& stat);
  // The program's file, and its arguments by spaces; "" where it is gone, or hides them.
  [[nodiscard]] std::string file_of(std::int32_t pid) const;
  [[nodiscard]] std::string command_of(std::int32_t pid) const;
  // Processes that are gone.
  void forget(std::int32_t pid);
  // The places of a thread that sleeps, as far as this user may know them.
  void see_where_it_sleeps(ThreadId thread, ThreadLook& look) const;

 private:
  struct Known {
    std::string schedstat;
    ThreadLook look;
  };
  std::optional<ThreadLook> look(ThreadId thread);
  [[nodiscard]] bool waits_for_thread(ThreadId thread, const SleepingIn& sleeping) const;
  [[nodiscard]] std::string folder_of(ThreadId thread) const;

  std::string proc_;
  std::int64_t tick_ns_;
  std::int64_t boot_to_monotonic_;
  std::map<ThreadId, Known> known_;  // a thread that did not run since is where it was
};

}  // namespace fathom::sources
