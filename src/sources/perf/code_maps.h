// SPDX-License-Identifier: MIT
// /proc/PID/maps, as far as it tells where code lies. A pure function over text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::sources {

// A range of a process's addresses, and the file that lies there.
struct CodeMapping {
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  std::uint64_t offset = 0;  // in the file
  std::uint64_t inode = 0;   // of the file
  std::string path;          // "[vdso]" and the like, too
};

// Those that may be executed and have a name; lines that make no sense are left out.
[[nodiscard]] std::vector<CodeMapping> parse_code_maps(std::string_view text);

}  // namespace fathom::sources
