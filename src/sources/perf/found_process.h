// SPDX-License-Identifier: MIT
// A process that ran before anybody looked, as /proc shows it: the kernel's records tell of changes
// alone.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sources/perf/code_maps.h"

namespace fathom::sources {

// A thread as /proc showed it.
struct FoundThread {
  std::int32_t tid = 0;
  std::string name;
  bool asleep = false;
  // Where it sleeps: functions of the kernel, innermost first, as far as this user may know.
  std::vector<std::string> waits_in;
};

// A mapping that can be run.
struct FoundCode {
  CodeMapping mapping;
  std::string build_id;  // its bytes; "" where the file has none, or is another one by now
};

// A process that ran before anybody followed it.
struct FoundProcess {
  std::int32_t pid = 0;
  std::int64_t ppid = 0;
  std::int64_t started_ns = 0;  // by the monotonic clock, in whole ticks; 0: not told
  std::string name;
  std::vector<FoundThread> threads;  // none: it has ended
  std::vector<FoundCode> code;
};

// Processes share most of their files. One thread at a time.
class ProcessFinder {
 public:
  [[nodiscard]] FoundProcess find(pid_t process);

 private:
  const std::string& build_id_of(pid_t process, const CodeMapping& mapping);

  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> build_ids_;  // by device, inode
};

// One thread of a process. Without a name: it has ended.
[[nodiscard]] FoundThread find_thread(pid_t process, pid_t thread);

// Functions of /proc/PID/stack, innermost first.
[[nodiscard]] std::vector<std::string> parse_kernel_stack(std::string_view text);

}  // namespace fathom::sources
