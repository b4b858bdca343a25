// SPDX-License-Identifier: MIT
// The few conversions that all writers of DFTracer's formats share.
#include "render/export/pfw_words.h"

#include <array>
#include <charconv>

#include "base/md5.h"

namespace fathom::render {

std::string pfw_hash(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  const std::array<std::uint8_t, 16> digest = md5(text);
  std::string hash;
  for (std::size_t i = 0; i < digest.size(); i += 2) {
    hash += kHex[digest[i] >> 4];
    hash += kHex[digest[i] & 15];
  }
  return hash;
}

std::int64_t pfw_us(std::int64_t ns) { return ns >= 0 ? ns / 1000 : -((-ns + 999) / 1000); }

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (text.empty() || read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return std::to_string(number) == text ? std::optional(number) : std::nullopt;
}

}  // namespace fathom::render
