// SPDX-License-Identifier: MIT
// Any bytes as words of a command line or an environment, and as text for a terminal.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/escape.h"
#include "base/text.h"
#include "base/utf8.h"

namespace fathom {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void read_numbers(std::string_view text) {
  const Result<std::int64_t> number = parse_int(text);
  if (number) {
    const Result<std::int64_t> again = parse_int(std::to_string(*number));
    require(again && *again == *number);
  }
  const Result<std::uint64_t> bytes = parse_bytes(text);
  require(!bytes || *bytes <= std::uint64_t{INT64_MAX});
}

void cut_and_join(std::string_view text) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(text, ',')) parts.emplace_back(part);
  require(join(parts, ",") == text);
  require(trim(text).size() <= text.size());
}

void show(std::string_view text) {
  const std::string shown = escape_control(text);
  require(is_valid_utf8(shown));
  require(escape_control(shown) == shown);
  require(is_valid_utf8(escape_name(text)) && is_valid_utf8(escape_page(text)));
  for (std::size_t at = 0; at < shown.size();) {
    const CodePoint point = code_point_at(shown, at);
    require(!steers_display(point.value));
    at += point.length;
  }
  require(is_valid_utf8(escape_invalid_utf8(text)));
  require(!is_valid_utf8(text) || escape_invalid_utf8(text) == text);
  (void)shell_join({std::string(text), shell_quote(text)});
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fathom::read_numbers(text);
  fathom::cut_and_join(text);
  fathom::show(text);
  return 0;
}
