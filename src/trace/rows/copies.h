// SPDX-License-Identifier: MIT
// Calls that move bytes from one file to another. They are a read of the one, which their events
// name, and a write of the other, which stands in their arguments.
#pragma once

#include <algorithm>
#include <string_view>

namespace fathom::trace {

inline constexpr std::string_view kCopyNames[] = {"copy_file_range", "sendfile", "sendfile64",
                                                  "splice", "tee"};
inline constexpr std::string_view kCopyTarget = "to";  // of args: the path of the file written to
inline constexpr std::string_view kMapping = "mmap";   // moves bytes without a call
inline constexpr std::string_view kWriteCategory = "write";

constexpr bool is_copy(std::string_view name) {
  return std::ranges::find(kCopyNames, name) != std::end(kCopyNames);
}

}  // namespace fathom::trace
