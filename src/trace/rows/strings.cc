// SPDX-License-Identifier: MIT
// An open-addressing table of string views. Texts are copied into blocks that never move, so that
// views stay valid while the table grows.
#include "trace/rows/strings.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace fathom::trace {

namespace {
constexpr std::size_t kBlockBytes = std::size_t{64} << 10;
}

std::uint32_t Strings::code(std::string_view text) {
  if (views_.size() * 4 >= slots_.size() * 3) grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = std::hash<std::string_view>()(text) & mask;
  while (slots_[slot] != kNoString) {
    if (views_[slots_[slot]] == text) return slots_[slot];
    slot = (slot + 1) & mask;
  }
  const auto code = static_cast<std::uint32_t>(views_.size());
  views_.push_back(store(text));
  slots_[slot] = code;
  return code;
}

std::uint32_t Strings::find(std::string_view text) const {
  if (slots_.empty()) return kNoString;
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = std::hash<std::string_view>()(text) & mask;
  while (slots_[slot] != kNoString && views_[slots_[slot]] != text) slot = (slot + 1) & mask;
  return slots_[slot];
}

std::string_view Strings::store(std::string_view text) {
  if (text.empty()) return "";
  if (block_size_ - block_used_ < text.size()) {
    block_size_ = std::max(kBlockBytes, text.size());
    block_used_ = 0;
    blocks_.push_back(std::make_unique<char[]>(block_size_));
  }
  char* at = blocks_.back().get() + block_used_;
  std::memcpy(at, text.data(), text.size());
  block_used_ += text.size();
  return {at, text.size()};
}

void Strings::grow() {
  const std::size_t size = std::max<std::size_t>(64, slots_.size() * 2);
  slots_.assign(size, kNoString);
  for (std::uint32_t code = 0; code < views_.size(); code++) {
    std::size_t slot = std::hash<std::string_view>()(views_[code]) & (size - 1);
    while (slots_[slot] != kNoString) slot = (slot + 1) & (size - 1);
    slots_[slot] = code;
  }
}

}  // namespace fathom::trace
