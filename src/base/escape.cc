// SPDX-License-Identifier: MIT
// One loop escapes for all doors; what a door lets through (nothing, lines, a page) is a parameter.
// The ranges come from Unicode's Default_Ignorable_Code_Point, written out because no Unicode
// library is linked.
#include "base/escape.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>

#include "base/text.h"
#include "base/utf8.h"

namespace fathom {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Controls, separators, and Unicode's Default_Ignorable_Code_Point without variation selectors.
constexpr Range kSteering[] = {
    {0x0000, 0x001f},   {0x007f, 0x009f},   {0x00ad, 0x00ad},   {0x034f, 0x034f},
    {0x061c, 0x061c},   {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180e, 0x180e},
    {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
    {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},   {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe00ff}, {0xe01f0, 0xe0fff},
};

// What is let through besides characters that are seen.
enum class Lets : std::uint8_t { kNothing, kLines, kPage };

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool reads_like_escape(std::string_view behind_backslash) {
  const std::string_view text = behind_backslash;
  if (text.starts_with('n') || text.starts_with('t') || text.starts_with("u{")) return true;
  return text.size() >= 3 && text[0] == 'x' && text[1] >= '0' && text[1] <= '7' && is_hex(text[2]);
}

// How long a colour is that begins here; 0 where none does.
std::size_t length_of_colour(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

void append_escape(std::string& out, const CodePoint& point) {
  if (point.value == '\n') {
    out += "\\n";
  } else if (point.value == '\t') {
    out += "\\t";
  } else if (!point.valid || point.value < 0x80) {
    append_escaped_byte(out, static_cast<unsigned char>(point.value));
  } else {
    char digits[8];
    const auto end = std::to_chars(digits, std::end(digits), std::uint32_t{point.value}, 16).ptr;
    out.append("\\u{").append(digits, end).append("}");
  }
}

bool is_seen(const CodePoint& point) { return point.valid && !steers_display(point.value); }

// How many bytes from here may pass as they are; 0: the character is to be escaped.
std::size_t length_that_passes(std::string_view text, const CodePoint& point, Lets lets) {
  if (is_seen(point)) return point.length;
  if (lets == Lets::kNothing) return 0;
  if (point.value == '\n' || point.value == '\t') return 1;
  return lets == Lets::kPage ? length_of_colour(text) : 0;
}

std::string escape(std::string_view bytes, Lets lets) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const CodePoint point = code_point_at(bytes, 0);
    const std::size_t length = length_that_passes(bytes, point, lets);
    if (length > 0) {
      out.append(bytes.substr(0, length));
    } else {
      append_escape(out, point);
    }
    bytes.remove_prefix(std::max(length, point.length));
  }
  return out;
}

}  // namespace

bool steers_display(char32_t character) {
  if (character >= 0x20 && character < 0x7f) return false;  // nearly all
  const auto* const after = std::ranges::upper_bound(kSteering, character, {}, &Range::first);
  return after != std::begin(kSteering) && character <= std::prev(after)->last;
}

std::string escape_control(std::string_view bytes) { return escape(bytes, Lets::kNothing); }
std::string escape_cell(std::string_view bytes) { return escape(bytes, Lets::kLines); }
std::string escape_page(std::string_view bytes) { return escape(bytes, Lets::kPage); }

std::string escape_name(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const std::size_t slash = std::min(bytes.find('\\'), bytes.size());
    out += escape_control(bytes.substr(0, slash));
    bytes.remove_prefix(slash);
    const std::size_t count = std::min(bytes.find_first_not_of('\\'), bytes.size());
    bytes.remove_prefix(count);
    const bool before_escape =
        reads_like_escape(bytes) || (!bytes.empty() && !is_seen(code_point_at(bytes, 0)));
    out.append(before_escape ? 2 * count : count, '\\');
  }
  return out;
}

}  // namespace fathom
