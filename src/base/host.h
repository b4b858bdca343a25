// SPDX-License-Identifier: MIT
// Facts about this machine that a recording carries.
#pragma once

#include <cstdint>
#include <string>

namespace fathom {

// Plain values, as they were read.
struct HostFacts {
  std::string hostname;
  std::string system;              // "Debian GNU/Linux 12 (bookworm)"
  std::string kernel;              // "6.1.0-18-amd64"
  std::string arch;                // "x86_64", "aarch64"
  std::string cpu_model;           // as /proc/cpuinfo names it
  std::uint32_t cores = 0;         // that this process may run on
  std::uint64_t memory_bytes = 0;  // physical
  std::string boot_id;             // changes with each boot: monotonic times of one boot compare
};

// What cannot be read stays empty or 0. `root` is put before /proc and /etc, for tests.
[[nodiscard]] HostFacts read_host_facts(const std::string& root = "");
// Of this machine, as they were when they were first asked for.
[[nodiscard]] const HostFacts& this_host();

}  // namespace fathom
