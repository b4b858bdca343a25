// SPDX-License-Identifier: MIT
// How much memory there is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fathom {

// Bytes that this process may have: the machine's, or less where a control group says so. `root` is
// put before /proc and /sys, for tests.
[[nodiscard]] std::uint64_t usable_memory(const std::string& root = "");

// A row of /proc/self/status that ends in kB ("RssAnon:"), in bytes; 0 where it is not told.
[[nodiscard]] std::uint64_t own_memory(std::string_view row);

}  // namespace fathom
