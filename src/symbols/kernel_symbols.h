// SPDX-License-Identifier: MIT
// Functions of the kernel and its modules by address, from /proc/kallsyms.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::symbols {

// Texts live as long as this.
class KernelSymbols {
 public:
  // As this kernel is now: to be asked while samples are taken, since modules come and go. kDenied:
  // addresses are hidden from this user (kptr_restrict).
  static Result<KernelSymbols> read();
  static Result<KernelSymbols> parse(std::string text);

  struct Found {
    std::string_view function;  // "": none
    std::string_view module;    // "nf_tables"; "": the kernel itself
  };
  [[nodiscard]] Found find(std::uint64_t address) const;
  [[nodiscard]] std::size_t size() const { return symbols_.size(); }

 private:
  struct Symbol {
    std::uint64_t address = 0;
    std::uint32_t name = 0;  // where it is in the text
    std::uint16_t name_size = 0;
    std::uint8_t module_size = 0;  // behind the name, in brackets; 0: none
    char type = 0;
  };
  static bool is_better(const Symbol& a, const Symbol& b);
  void add(std::string_view line);

  std::unique_ptr<std::string> text_;
  std::vector<Symbol> symbols_;
};

}  // namespace fathom::symbols
