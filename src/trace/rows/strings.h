// SPDX-License-Identifier: MIT
// Texts as small numbers. A code stays valid, and the text where it is, as long as the pool lives.
// One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace fathom::trace {

inline constexpr std::uint32_t kNoString = 0xffffffff;  // NULL; the same as sql::kNullCode

// Owns the texts. Codes of one pool mean nothing in another: rows that move between pools are
// translated. Only clear() makes codes invalid.
class Strings {
 public:
  Strings() = default;
  Strings(Strings&&) noexcept = default;
  Strings& operator=(Strings&&) noexcept = default;

  // The code of a text, new if it was not there. Bytes are taken as they are.
  std::uint32_t code(std::string_view text);
  // "" becomes NULL.
  std::uint32_t code_or_null(std::string_view text) {
    return text.empty() ? kNoString : code(text);
  }

  // The code of a text that is there; kNoString where it is not.
  [[nodiscard]] std::uint32_t find(std::string_view text) const;
  // Forgets all texts and codes, and gives their memory back.
  void clear() { *this = Strings(); }

  // The text of a code; "" for kNoString and for codes of another pool.
  [[nodiscard]] std::string_view view(std::uint32_t code) const {
    return code < views_.size() ? views_[code] : std::string_view();
  }
  [[nodiscard]] std::span<const std::string_view> views() const { return views_; }
  [[nodiscard]] std::size_t size() const { return views_.size(); }

 private:
  std::string_view store(std::string_view text);
  void grow();

  std::vector<std::string_view> views_;
  std::vector<std::uint32_t> slots_;  // open addressing; kNoString is empty
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t block_used_ = 0;
  std::size_t block_size_ = 0;
};

}  // namespace fathom::trace
