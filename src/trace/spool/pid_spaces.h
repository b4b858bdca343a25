// SPDX-License-Identifier: MIT
// Which process of this machine a pid means that counts in another pid namespace (a container, or
// `unshare --pid`). A process is seen in all namespaces above its own, and /proc/PID/status says
// which numbers it has there.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace fathom::trace {

// A pid as a program wrote it, and where it counts (fathom_space in wire/spool.h).
struct Pid {
  std::uint32_t number = 0;
  std::uint32_t space = 0;  // 0: where the run's header counts
  // NOLINTNEXTLINE(modernize-use-nullptr): sees a 0 in what the compiler makes here
  auto operator<=>(const Pid&) const = default;
};

// Inode of this process's namespace; 0 where /proc does not tell.
[[nodiscard]] std::uint64_t own_pid_namespace();

// One thread at a time. A /proc that cannot be read makes processes `hidden`, not gone.
class PidSpaces {
 public:
  // `home` is the inode that run.header names; 0: made by an older library, and taken for ours.
  explicit PidSpaces(std::uint64_t home, std::string proc = "/proc");

  // Whether processes of the run's own namespace can be seen from ours.
  [[nodiscard]] bool sees_home();
  // What was read of living processes is read again when it is asked for.
  void begin_pass() { fresh_ = false; }

  struct Here {
    std::uint32_t pid = 0;  // in our namespace; 0: none
    bool hidden = false;    // it may be there all the same: /proc does not show all processes
  };
  // `key` is of the process: one that was found gone stays so. 0: not known.
  [[nodiscard]] Here find(const Pid& pid, std::uint64_t key);

 private:
  struct Known {
    std::uint32_t pid = 0;    // here
    std::uint32_t inner = 0;  // in its own namespace
    std::uint32_t space = 0;  // its own; FATHOM_SPACE_UNKNOWN: we may not ask
  };
  void read_processes();
  [[nodiscard]] bool read_one(std::uint32_t pid, Known& known) const;
  [[nodiscard]] std::uint32_t living(std::uint32_t number, std::uint32_t space) const;

  std::string proc_;
  std::uint64_t own_ = 0;
  std::uint64_t home_ = 0;
  bool fresh_ = false;  // known_ was read in this pass
  bool hidden_ = false;
  std::vector<Known> known_;
  std::set<std::pair<Pid, std::uint64_t>> gone_;  // by key
};

}  // namespace fathom::trace
