// SPDX-License-Identifier: MIT
// What else this machine did while something was measured: the things that make times differ from
// run to run though the program is the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/proc_text.h"

namespace fathom::session {

// What of the machine may have disturbed a measurement. What it does not tell is left out.
struct Noise {
  std::string governor;         // of the CPUs' frequency; "": none can be chosen here
  double load = 0;              // processes that wanted a core, when measuring began
  std::uint32_t cores = 0;      // that this process may use
  std::optional<double> steal;  // share of the cores' time that the hypervisor gave to others
  std::optional<bool> boost;    // the CPU may run faster than its nominal frequency
  [[nodiscard]] std::vector<std::string> warnings() const;  // as sentences
};

// Reads the machine when it is made, and what changed since when it is asked. `root` is put before
// /proc and /sys, for tests.
class NoiseMeter {
 public:
  explicit NoiseMeter(std::string root = "");
  [[nodiscard]] Noise read() const;

 private:
  [[nodiscard]] std::optional<MachineCpu> cpu_times() const;
  [[nodiscard]] std::string line(const std::string& path) const;

  std::string root_;
  std::optional<MachineCpu> begin_;
  double load_ = 0;
};

}  // namespace fathom::session
