// SPDX-License-Identifier: MIT
// DuckDB stores all members of an ENUM with each row group, so unused texts are dropped and equal
// ones merged before they get there.
#include "sql/dictionary.h"

#include <unordered_map>

#include "base/utf8.h"

namespace fathom::sql {

std::string enum_text(std::string_view text) {
  std::string valid = escape_invalid_utf8(text);
  if (valid.find('\0') == std::string::npos) return valid;
  std::string out;
  for (const char c : valid) {
    if (c == '\0') {
      append_escaped_byte(out, 0);
    } else {
      out += c;
    }
  }
  return out;
}

Dictionary::Dictionary(std::span<const std::string_view> texts) {
  add_members(texts, std::vector<bool>(texts.size(), true));
}

Dictionary::Dictionary(std::span<const std::string_view> texts,
                       std::span<const std::uint32_t> occurring) {
  std::vector<std::uint8_t> seen(texts.size(), 0);
  for (const std::uint32_t code : occurring) {
    if (code < seen.size()) seen[code] = 1;
  }
  add_members(texts, std::vector<bool>(seen.begin(), seen.end()));
}

void Dictionary::add_members(std::span<const std::string_view> texts,
                             const std::vector<bool>& used) {
  std::unordered_map<std::string_view, std::uint32_t> known;
  member_of_code_.assign(texts.size(), 0);
  for (std::size_t code = 0; code < texts.size(); ++code) {
    if (!used[code]) continue;
    std::string text = enum_text(texts[code]);
    const auto found = known.find(text);
    if (found != known.end()) {
      member_of_code_[code] = found->second;
      continue;
    }
    const auto member = static_cast<std::uint32_t>(members_.size());
    const std::string& kept = storage_.emplace_back(std::move(text));
    known.emplace(kept, member);
    members_.push_back(kept.c_str());
    member_of_code_[code] = member;
  }
}

}  // namespace fathom::sql
