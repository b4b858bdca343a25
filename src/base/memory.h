// SPDX-License-Identifier: MIT
// How much memory there is.
#pragma once

#include <cstdint>
#include <string>

namespace fathom {

// Bytes that this process may have: the machine's, or less where a control group says so. `root` is
// put before /proc and /sys, for tests.
[[nodiscard]] std::uint64_t usable_memory(const std::string& root = "");

}  // namespace fathom
