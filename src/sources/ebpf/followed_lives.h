// SPDX-License-Identifier: MIT
// Processes and threads that the kernel's half follows, from its records of fork, exec, exit and
// join to the rows that tell of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "sources/ebpf/shared.h"
#include "sources/source.h"
#include "trace/rows/lives.h"

namespace fathom::sources::ebpf {

// The rank of a process, by a text like /proc/PID/environ; NULL where it has none.
std::int64_t rank_in(std::string_view environment);

// One thread at a time. Every record may be missing, the ring may have had no room for it: a thread
// that nobody saw begin begins with its end, and a process whose end is lost waits for finish().
// What waits to be taken has a limit; lives beyond it are counted (take_overflow).
class FollowedLives {
 public:
  FollowedLives(std::int64_t start_monotonic_ns, bool no_command)
      : start_monotonic_ns_(start_monotonic_ns), no_command_(no_command) {}

  void forked(const fathom_process_record& record);
  // Another image of the process: a row of its own. (All other threads are gone by now.)
  void execed(const fathom_process_record& record);
  // A thread's end, or that of a process where it was the last one.
  void exited(const fathom_process_record& record);
  // Was there before the recording. A record comes for each of its threads, in any order.
  void joined(const fathom_process_record& record);

  // Processes that were not seen to end.
  [[nodiscard]] std::vector<Followed> alive() const;
  // Whether processes are left that were not seen to end, and are there.
  [[nodiscard]] bool anybody_lives() const;
  // This process goes on without us.
  void forget(pid_t process);

  // Who lives for two calls of this is told of, and again with his end: should the recorder die,
  // the recording knows of him. Short lives have one row.
  void tell_of_long_lived();
  // Tells of all that live, as they are now; they go on.
  void tell_of_all();
  // Times count from `shift` ns after the kernel's half was loaded.
  void begin_anew(std::int64_t shift);
  // Everybody is gone, or is not followed any more.
  void finish();
  // A row of a process that nobody follows.
  void add(trace::ProcessRow row) { ended_.push_back(std::move(row)); }

  // Moves out what is told of.
  void take(trace::Lives& lives);
  // Lives that found no room since the last call.
  [[nodiscard]] std::int64_t take_overflow() { return std::exchange(overflow_, 0); }

 private:
  struct Life {
    trace::ProcessRow row;
    std::uint64_t since = 0;  // ns of the monotonic clock
    int threads = 1;          // that were seen to begin and not to end
    int takes = 0;            // that it has seen
  };

  struct ThreadLife {
    trace::ThreadRow row;
    int takes = 0;  // that it has seen
  };

  void begin(const fathom_process_record& record, Life& life);
  void begin_thread(const fathom_process_record& record);
  // Whether it was known. The word that it began may be lost: its end tells of that, too.
  bool end_thread(const fathom_process_record& record);
  void end_threads_of(std::uint32_t process, std::int64_t at);
  void finish_process(trace::ProcessRow row);
  void finish_thread(ThreadLife& life);
  [[nodiscard]] bool has_room(std::size_t waiting);
  [[nodiscard]] std::int64_t time(std::uint64_t ns) const {
    return static_cast<std::int64_t>(ns) - start_monotonic_ns_ - shift_;
  }

  std::int64_t start_monotonic_ns_;
  std::int64_t shift_ = 0;  // ns between the start of the kernel's half and the recording's
  bool no_command_;
  std::map<std::uint32_t, Life> alive_;  // by pid
  // By pid and tid, so that those of a process lie beside each other.
  std::map<std::pair<std::uint32_t, std::uint32_t>, ThreadLife> threads_;
  std::vector<trace::ProcessRow> ended_;
  std::vector<trace::ThreadRow> ended_threads_;
  std::int64_t overflow_ = 0;
};

}  // namespace fathom::sources::ebpf
