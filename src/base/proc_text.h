// SPDX-License-Identifier: MIT
// What the kernel tells in the files of /proc and of control groups, as numbers. Pure functions
// over text.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// /proc/PID/stat
struct ProcessStat {
  std::int32_t pid = 0;
  std::int32_t ppid = 0;
  char state = '?';
  std::string name;  // any bytes: spaces and parentheses too
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::uint64_t user_ticks = 0;
  std::uint64_t system_ticks = 0;
  std::uint64_t threads = 0;
  std::uint64_t start_ticks = 0;  // since boot: with the pid, names a process for good
  std::uint64_t vsize_bytes = 0;
  std::uint64_t rss_pages = 0;
  std::uint64_t start_stack = 0;  // an address that each exec changes; 0: hidden, or it has ended
  std::int32_t cpu = -1;          // where it ran last; -1: not told
};
[[nodiscard]] std::optional<ProcessStat> parse_process_stat(std::string_view text);

// /proc/PID/task/TID/schedstat, in ns since the thread began.
struct SchedStat {
  std::int64_t ran = 0;
  std::int64_t ready = 0;      // could run, but waited for a CPU
  std::uint64_t arrivals = 0;  // on a CPU
};
[[nodiscard]] std::optional<SchedStat> parse_schedstat(std::string_view text);

// /proc/PID/task/TID/syscall of a thread that sleeps; nothing of one that does not.
struct SleepingIn {
  std::int64_t call = -1;                    // -1: none; it sleeps in the kernel for another reason
  std::array<std::uint64_t, 6> arguments{};  // of the call
  std::uint64_t stack_pointer = 0;           // of the program
};
[[nodiscard]] std::optional<SleepingIn> parse_syscall(std::string_view text);

// The number behind `key` at the start of a line: "VmRSS:   123 kB", "rchar: 5", "usage_usec 7".
[[nodiscard]] std::optional<std::uint64_t> number_of(std::string_view text, std::string_view key);

// The whole text is one number, with white space around it.
[[nodiscard]] std::optional<std::uint64_t> only_number(std::string_view text);

// First line of /proc/stat, in ticks of all CPUs together.
struct MachineCpu {
  std::uint64_t busy = 0;
  std::uint64_t total = 0;
  std::uint64_t stolen = 0;  // that a hypervisor gave to others
};
[[nodiscard]] std::optional<MachineCpu> parse_machine_cpu(std::string_view text);

// "1 22 333 " as in /proc/PID/task/TID/children.
[[nodiscard]] std::vector<std::int32_t> parse_pids(std::string_view text);

}  // namespace fathom
