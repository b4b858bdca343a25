// SPDX-License-Identifier: MIT
// A column's dictionary made fit for DuckDB's ENUM, which wants distinct, valid, NUL-terminated
// texts and stores every one of them in every row group: unused texts are dropped, equal ones
// merged, bytes that are not text escaped.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::sql {

// Owns copies of its members; the texts that it was made of may go.
class Dictionary {
 public:
  Dictionary() = default;
  // All texts are members.
  explicit Dictionary(std::span<const std::string_view> texts);
  // Only the texts whose code occurs; codes outside the dictionary are left to whoever reads them.
  Dictionary(std::span<const std::string_view> texts, std::span<const std::uint32_t> occurring);

  // The ENUM's members, in the order of their first code.
  [[nodiscard]] const std::vector<const char*>& members() const { return members_; }
  // The member of each code. Meaningless for a text that does not occur.
  [[nodiscard]] std::span<const std::uint32_t> member_of_code() const { return member_of_code_; }

 private:
  void add_members(std::span<const std::string_view> texts, const std::vector<bool>& used);

  std::deque<std::string> storage_;  // does not move its texts
  std::vector<const char*> members_;
  std::vector<std::uint32_t> member_of_code_;
};

// The text as DuckDB may hold it in an ENUM: valid UTF-8 without NUL.
std::string enum_text(std::string_view text);

}  // namespace fathom::sql
