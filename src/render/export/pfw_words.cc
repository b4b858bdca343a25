// SPDX-License-Identifier: MIT
// The few conversions that all writers of DFTracer's formats share.
#include "render/export/pfw_words.h"

#include <array>
#include <charconv>

#include "base/hex.h"
#include "base/md5.h"

namespace fathom::render {

std::string pfw_hash(std::string_view text) {
  const std::array<std::uint8_t, 16> digest = md5(text);
  std::string hash;
  for (std::size_t i = 0; i < digest.size(); i += 2) append_hex(hash, digest[i]);
  return hash;
}

std::int64_t pfw_time(std::int64_t ns, std::int64_t unit_ns) {
  return ns >= 0 ? ns / unit_ns : -((-ns + unit_ns - 1) / unit_ns);
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (text.empty() || read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return std::to_string(number) == text ? std::optional(number) : std::nullopt;
}

bool is_real_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  if (digits.find_first_of(".e") == std::string_view::npos) return false;
  if (digits.empty() || digits[0] < '0' || digits[0] > '9') return false;
  if (digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9') return false;
  if (digits.back() < '0' || digits.back() > '9') return false;
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end && digits.find(".e") == std::string_view::npos;
}

std::optional<double> number_of(std::string_view text) {
  double number = 0;
  if (!whole_number(text) && !is_real_number(text)) return std::nullopt;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace fathom::render
