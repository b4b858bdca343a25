// SPDX-License-Identifier: MIT
// Stubs by which a file calls other files' functions. No table names them: "malloc@plt" is told by
// the word that a stub jumps through, and the relocation that fills the word.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "symbols/elf_file.h"

namespace fathom::symbols {

// One stub.
struct PltName {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::string name;  // demangled, with "@plt"
};

// Of x86_64 and aarch64; a stub that jumps in another way has no name.
[[nodiscard]] std::vector<PltName> plt_names_of(const ElfFile& file);

}  // namespace fathom::symbols
