// SPDX-License-Identifier: MIT
// Numbers layers and names. From the bound on, names become "other names" of their layer; long
// names are cut between two letters of UTF-8.
#include "analysis/canvas/kinds.h"

namespace fathom::analysis {
namespace {

constexpr std::string_view kOther = "other names";

// As much of the text as may stay, without half a letter at its end.
std::string_view cut(std::string_view text) {
  if (text.size() <= Kinds::kLongestName) return text;
  std::size_t end = Kinds::kLongestName;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace

std::uint32_t Kinds::text_number(std::string_view text) {
  const auto [found, fresh] =
      text_numbers_.try_emplace(std::string(cut(text)), static_cast<std::uint32_t>(texts_.size()));
  if (fresh) texts_.push_back(found->first);
  return found->second;
}

std::uint32_t Kinds::find(std::string_view layer, std::string_view name) {
  const bool full = kinds_.size() >= kMost;
  if (full) ++unnamed_;
  const Kind kind{text_number(layer), text_number(full ? kOther : name)};
  const auto [found, fresh] = numbers_.try_emplace(std::uint64_t{kind.layer} << 32U | kind.name,
                                                   static_cast<std::uint32_t>(kinds_.size()));
  if (fresh) kinds_.push_back(kind);
  return found->second;
}

}  // namespace fathom::analysis
