// SPDX-License-Identifier: MIT
// Parses a single range. A header that is not understood, or asks for several, gives the whole
// file, as RFC 9110 allows.
#include "serve/http/byte_range.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace fathom::serve {
namespace {

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  return error == std::errc() && end == last ? std::optional(value) : std::nullopt;
}

}  // namespace

ByteRange parse_range(std::string_view header, std::uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  const ByteRange whole{ByteRange::Kind::kWhole, 0, size};
  if (!header.starts_with(kUnit)) return whole;
  header.remove_prefix(kUnit.size());
  const std::size_t dash = header.find('-');
  if (dash == std::string_view::npos) return whole;
  const std::string_view before = header.substr(0, dash);
  const std::string_view after = header.substr(dash + 1);
  const auto first = number(before);
  const auto last = number(after);
  if ((!before.empty() && !first) || (!after.empty() && !last) || (!first && !last)) return whole;
  if (first && last && *last < *first) return whole;
  ByteRange range{ByteRange::Kind::kPart, 0, 0};
  if (first) {
    range.first = *first;
    if (*first < size) range.size = last ? std::min(*last, size - 1) - *first + 1 : size - *first;
  } else {  // the last bytes
    range.size = std::min(*last, size);
    range.first = size - range.size;
  }
  if (range.size == 0) range.kind = ByteRange::Kind::kBeyond;
  return range;
}

}  // namespace fathom::serve
