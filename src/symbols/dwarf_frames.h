// SPDX-License-Identifier: MIT
// What DWARF says of an address: the function, the functions that were inlined into it there, and
// the source lines. Only compilation units that are asked about are read.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbols/elf_file.h"

namespace fathom::symbols {

// Texts point into the file's debug information, valid as long as the DwarfFrames.
struct DwarfFrame {
  std::string_view function;  // as the linker knows it where that is said, else the plain name
  std::string_view file;      // "": not known
  int line = 0;
};

// One thread at a time. Damaged information ends in fewer frames; the work for a file is bounded by
// its size.
class DwarfFrames {
 public:
  // `shared` is what find_shared_debug() gave, or nullptr. Both files must outlive this. Addresses
  // below `lowest_code` are those of functions that the linker threw away. kNotFound: no DWARF.
  static Result<DwarfFrames> open(const ElfFile& file, const ElfFile* shared,
                                  std::uint64_t lowest_code);
  ~DwarfFrames();
  DwarfFrames(DwarfFrames&&) noexcept;
  DwarfFrames& operator=(DwarfFrames&&) noexcept;

  // Outermost first; the last one's line is that of the address itself. Empty: nothing is known.
  // The function's name is empty where only a line is known.
  std::vector<DwarfFrame> at(std::uint64_t address);

 private:
  class Reader;
  explicit DwarfFrames(std::unique_ptr<Reader> reader);
  std::unique_ptr<Reader> reader_;
};

}  // namespace fathom::symbols
