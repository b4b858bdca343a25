// SPDX-License-Identifier: MIT
// On which CPUs processes ran, by their threads: for control groups of version 2, which have no
// such numbers. A thread's time since the last look counts for the CPU where it ran last.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace fathom::sources {

// One thread.
class ThreadCores {
 public:
  explicit ThreadCores(std::string proc) : proc_(std::move(proc)) {}

  // What of `grown` each CPU had, in proportion to the ticks that threads gained there. Without any
  // gain: of the first thread's CPU, or 0.
  std::map<int, double> split(const std::set<pid_t>& processes, double grown);

 private:
  std::string proc_;
  std::map<pid_t, std::uint64_t> ticks_;  // by thread
};

}  // namespace fathom::sources
