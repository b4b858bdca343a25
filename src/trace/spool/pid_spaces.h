// SPDX-License-Identifier: MIT
// Which process of this machine a pid means that counts in another pid namespace (a container, or
// `unshare --pid`). A process is seen in all namespaces above its own, and /proc/PID/status says
// which numbers it has there. Namespaces beside ours or above it show nothing.
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
  // `one_tree`: all processes of the run descend from one of that namespace, so that none is beside
  // it.
  PidSpaces(std::uint64_t home, bool one_tree, std::string proc = "/proc");

  // Whether processes of the run's own namespace can be seen from ours.
  [[nodiscard]] bool sees_home();
  // Whether processes of the run may be in namespaces that cannot be seen from ours.
  [[nodiscard]] bool may_hide() const;
  // What was read of living processes is read again when it is asked for.
  void begin_pass() { fresh_ = false; }

  struct Here {
    // In our namespace. Several where 24 bits do not tell namespaces apart.
    std::vector<std::uint32_t> pids;
    bool hidden = false;  // it may be another one all the same, which we cannot see
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
  [[nodiscard]] std::vector<std::uint32_t> living(std::uint32_t number, std::uint32_t space) const;
  [[nodiscard]] bool shows(std::uint32_t space) const;

  std::string proc_;
  std::uint64_t own_ = 0;
  std::uint64_t home_ = 0;
  bool one_tree_ = false;
  bool fresh_ = false;  // known_ was read in this pass
  bool hidden_ = false;
  std::vector<Known> known_;
  std::set<std::uint32_t> below_;                 // namespaces in which processes were seen
  std::set<std::pair<Pid, std::uint64_t>> gone_;  // by key
};

}  // namespace fathom::trace
