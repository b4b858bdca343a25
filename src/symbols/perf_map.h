// SPDX-License-Identifier: MIT
// Perf maps: text files in which JITs (node, Python's trampoline, agents of Java) tell which
// function they put where, as lines "BEGIN SIZE NAME" in hexadecimal digits.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "symbols/overlay_map.h"

namespace fathom::symbols {

// Texts live as long as this.
class PerfMap {
 public:
  // Lines that make no sense are passed over; of entries that overlap the later one holds.
  static PerfMap parse(std::string text);

  // /tmp/perf-PID.map of a process that runs, as it sees /tmp and its own pid (a container's).
  // kNotFound: none; kDenied: it is not the process's own, or no plain file; kUnsupported: larger
  // than what is read.
  static Result<PerfMap> of_process(pid_t pid);
  // The same in a folder; `owner` or root must have written it.
  static Result<PerfMap> open(const std::string& folder, pid_t inner_pid, uid_t owner);

  // "" where nothing is known.
  [[nodiscard]] std::string_view find(std::uint64_t address) const;
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  std::unique_ptr<std::string> text_;  // moves with its views
  OverlayMap<std::string_view> names_;
};

}  // namespace fathom::symbols
