// SPDX-License-Identifier: MIT
// Places in a program's code as people know them: the function, and its source file and line where
// debug information says so. Reads .symtab, .dynsym and DWARF of files on this machine; never asks
// the network.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace fathom::symbols {

struct Symbol {
  std::string function;  // demangled
  std::string file;      // empty: no debug information
  int line = 0;
};

// Keeps every module that it opened once. One thread at a time.
class Symbolizer {
 public:
  Symbolizer();
  ~Symbolizer();
  Symbolizer(Symbolizer&&) noexcept;
  Symbolizer& operator=(Symbolizer&&) noexcept;

  // What lies at `offset` bytes behind the start of a loaded module. An error when the file cannot
  // be read as ELF (kNotFound, kCorrupt) or holds no symbol there (kNotFound).
  Result<Symbol> find(const std::string& module, std::uint64_t offset);

 private:
  class Modules;
  std::unique_ptr<Modules> modules_;
};

}  // namespace fathom::symbols
