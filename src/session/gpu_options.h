// SPDX-License-Identifier: MIT
// How layer gpu times the device: options of `fathom run`, which the library gets as variables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::session {

// What the user asked of layer gpu, as typed.
struct GpuOptions {
  bool waits = false;       // rows of waiting, which are dear
  std::string graphs = {};  // nodes, whole; "": nodes
  std::string range = {};   // all, profiler; "": all
  std::string cupti = {};   // a file, none; "": what is found
  std::int64_t sample = 0;  // without CUPTI, one launch of so many; 0: of 32

  [[nodiscard]] bool any() const;
};

// NAME=value each; a path becomes absolute. What cannot be meant is a usage error.
Result<std::vector<std::string>> gpu_variables(const GpuOptions& options);

}  // namespace fathom::session
