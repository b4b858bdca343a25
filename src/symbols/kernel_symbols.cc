// SPDX-License-Identifier: MIT
// Lines are "ADDRESS TYPE NAME", with "[module]" behind the name. Data are read too: a function
// ends where they begin.
#include "symbols/kernel_symbols.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "base/files.h"

namespace fathom::symbols {
namespace {

bool is_code(char type) { return type == 'T' || type == 't' || type == 'W' || type == 'w'; }

}  // namespace

Result<KernelSymbols> KernelSymbols::read() {
  FATHOM_ASSIGN(std::string text, read_file("/proc/kallsyms"));
  return parse(std::move(text));
}

Result<KernelSymbols> KernelSymbols::parse(std::string text) {
  constexpr std::size_t kMostBytes = std::numeric_limits<std::uint32_t>::max();
  if (text.size() > kMostBytes) return Error{Code::kUnsupported, "too many symbols", ""};
  KernelSymbols kernel;
  kernel.text_ = std::make_unique<std::string>(std::move(text));
  std::string_view left = *kernel.text_;
  while (!left.empty()) {
    const std::size_t end = std::min(left.find('\n'), left.size());
    kernel.add(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  if (kernel.symbols_.empty())
    return Error{Code::kDenied, "the kernel hides its addresses",
                 "sysctl kernel.kptr_restrict=0, or record as root"};
  std::ranges::stable_sort(kernel.symbols_, [](const Symbol& a, const Symbol& b) {
    return a.address != b.address ? a.address < b.address : is_better(a, b);
  });
  const auto same = [](const Symbol& a, const Symbol& b) { return a.address == b.address; };
  auto& symbols = kernel.symbols_;
  symbols.erase(std::unique(symbols.begin(), symbols.end(), same), symbols.end());
  return kernel;
}

// Of several names at one address: code, and what everybody sees.
bool KernelSymbols::is_better(const Symbol& a, const Symbol& b) {
  if (is_code(a.type) != is_code(b.type)) return is_code(a.type);
  return (a.type == 'T') && b.type != 'T';
}

void KernelSymbols::add(std::string_view line) {
  Symbol symbol;
  const char* const end = line.data() + line.size();
  const auto number = std::from_chars(line.data(), end, symbol.address, 16);
  constexpr std::ptrdiff_t kBeforeName = 3;  // " T "
  if (number.ec != std::errc() || symbol.address == 0 || end - number.ptr <= kBeforeName) return;
  symbol.type = number.ptr[1];
  const std::string_view rest(number.ptr + kBeforeName,
                              static_cast<std::size_t>(end - number.ptr - kBeforeName));
  const std::string_view name = rest.substr(0, std::min(rest.find_first_of(" \t"), rest.size()));
  if (name.empty() || name.size() > std::numeric_limits<std::uint16_t>::max()) return;
  symbol.name = static_cast<std::uint32_t>(name.data() - text_->data());
  symbol.name_size = static_cast<std::uint16_t>(name.size());
  const std::string_view module = rest.substr(name.size());
  const bool has_module = module.size() > 3 && module[1] == '[' && module.ends_with(']');
  if (has_module && module.size() - 3 <= std::numeric_limits<std::uint8_t>::max())
    symbol.module_size = static_cast<std::uint8_t>(module.size() - 3);
  symbols_.push_back(symbol);
}

KernelSymbols::Found KernelSymbols::find(std::uint64_t address) const {
  constexpr std::uint64_t kMostSize = 1U << 16U;  // of the last one before a gap
  const auto next = std::ranges::upper_bound(symbols_, address, {}, &Symbol::address);
  if (next == symbols_.begin()) return {};
  const Symbol& symbol = *std::prev(next);
  if (!is_code(symbol.type) || address - symbol.address > kMostSize) return {};
  const std::string_view text = *text_;
  constexpr std::size_t kBetween = 2;  // "\t["
  return {text.substr(symbol.name, symbol.name_size),
          symbol.module_size == 0
              ? std::string_view()
              : text.substr(symbol.name + symbol.name_size + kBetween, symbol.module_size)};
}

}  // namespace fathom::symbols
