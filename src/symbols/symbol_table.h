// SPDX-License-Identifier: MIT
// Functions of a file by address. A name is given only where the table says that it holds: inside
// the function's size, or, for a label without a size, up to the next symbol of its section.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/elf_file.h"

namespace fathom::symbols {

// Names are views into the files, which must stay open.
class SymbolTable {
 public:
  enum class Kind : std::uint8_t { kAll, kDynamic };
  // Adds the symbols of .symtab (kAll) or .dynsym. Returns how many it took.
  std::size_t add(const ElfFile& file, Kind kind);
  void add(std::uint64_t address, std::uint64_t size, std::string_view name);
  // After the last add() and before the first find().
  void sort();

  struct Found {
    std::string_view name;  // as the file has it, without its version
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  // A name of "" means none.
  [[nodiscard]] Found find(std::uint64_t address) const;
  [[nodiscard]] bool empty() const { return sized_.empty() && labels_.empty(); }
  [[nodiscard]] std::size_t size() const { return sized_.size() + labels_.size(); }

 private:
  struct Entry {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t reach = 0;  // the farthest end of this and all before
    std::string_view name;
    std::uint8_t binding = 0;
  };
  static bool is_better(const Entry& a, const Entry& b);
  static void keep_best(std::vector<Entry>& entries);
  void bound_labels();

  std::vector<Entry> sized_;
  std::vector<Entry> labels_;  // `end` is where the section ends, and after sort() where they do
};

}  // namespace fathom::symbols
