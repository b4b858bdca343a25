// SPDX-License-Identifier: MIT
// A table of wide and zero-width ranges instead of wcwidth, whose answer depends on the locale and
// on the C library's age.
#include "render/display_width.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/utf8.h"

namespace fathom::render {

namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Marks that sit on the character before them, and characters that are not shown.
constexpr Range kNone[] = {
    {0x0300, 0x036f},   {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x05bf, 0x05bf},   {0x05c1, 0x05c2},
    {0x0610, 0x061a},   {0x064b, 0x065f}, {0x06d6, 0x06dc}, {0x093c, 0x093c},   {0x0941, 0x0948},
    {0x094d, 0x094d},   {0x0e31, 0x0e31}, {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e},   {0x1ab0, 0x1aff},
    {0x1dc0, 0x1dff},   {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x2064},   {0x20d0, 0x20ff},
    {0xfe00, 0xfe0f},   {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0x1f3fb, 0x1f3ff}, {0xe0001, 0xe007f},
    {0xe0100, 0xe01ef},
};

// East Asian wide and full-width characters, and what is shown as a picture.
constexpr Range kWide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},
    {0x23f0, 0x23f0},   {0x23f3, 0x23f3},   {0x25fd, 0x25fe},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x267f, 0x267f},   {0x2693, 0x2693},   {0x26a1, 0x26a1},
    {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x26c4, 0x26c5},   {0x26ce, 0x26ce},
    {0x26d4, 0x26d4},   {0x26ea, 0x26ea},   {0x26f2, 0x26f3},   {0x26f5, 0x26f5},
    {0x26fa, 0x26fa},   {0x26fd, 0x26fd},   {0x2705, 0x2705},   {0x270a, 0x270b},
    {0x2728, 0x2728},   {0x274c, 0x274c},   {0x274e, 0x274e},   {0x2753, 0x2755},
    {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27b0, 0x27b0},   {0x27bf, 0x27bf},
    {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2b55, 0x2b55},   {0x2e80, 0x303e},
    {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0xa4cf},   {0xa960, 0xa97c},
    {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff01, 0xff60},
    {0xffe0, 0xffe6},   {0x16fe0, 0x18aff}, {0x1b000, 0x1b2ff}, {0x1f004, 0x1f004},
    {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f320},
    {0x1f32d, 0x1f335}, {0x1f337, 0x1f37c}, {0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca},
    {0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0}, {0x1f3f4, 0x1f3f4}, {0x1f3f8, 0x1f43e},
    {0x1f440, 0x1f440}, {0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d}, {0x1f54b, 0x1f54e},
    {0x1f550, 0x1f567}, {0x1f57a, 0x1f57a}, {0x1f595, 0x1f596}, {0x1f5a4, 0x1f5a4},
    {0x1f5fb, 0x1f64f}, {0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc}, {0x1f6d0, 0x1f6d2},
    {0x1f6d5, 0x1f6d7}, {0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc}, {0x1f7e0, 0x1f7eb},
    {0x1f90c, 0x1f93a}, {0x1f93c, 0x1f945}, {0x1f947, 0x1f9ff}, {0x1fa70, 0x1faff},
    {0x20000, 0x3fffd},
};

bool contains(std::span<const Range> ranges, char32_t value) {
  const auto after = std::ranges::upper_bound(ranges, value, {}, &Range::first);
  return after != ranges.begin() && value <= std::prev(after)->last;
}

std::size_t width_of(char32_t value) {
  if (value < 0x300) return 1;  // nearly all
  if (contains(kNone, value)) return 0;
  return contains(kWide, value) ? 2 : 1;
}

// A text cut into code points with their places and widths.
struct Glyph {
  std::size_t at;
  std::size_t width;
};

std::vector<Glyph> glyphs(std::string_view text) {
  std::vector<Glyph> found;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    found.push_back({at, width_of(point.value)});
    at += point.length;
  }
  return found;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    width += width_of(point.value);
    at += point.length;
  }
  return width;
}

std::string shorten_middle(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  const std::vector<Glyph> all = glyphs(text);
  const std::size_t less = (width - 1) / 3;
  const bool is_path = text.find('/') != std::string_view::npos;
  const std::size_t head_room = is_path ? less : width - 1 - less;
  const std::size_t tail_room = width - 1 - head_room;

  std::size_t head_end = 0;
  std::size_t used = 0;
  while (head_end < all.size() && used + all[head_end].width <= head_room)
    used += all[head_end++].width;
  std::size_t tail_begin = all.size();
  used = 0;
  while (tail_begin > 0 && used + all[tail_begin - 1].width <= tail_room)
    used += all[--tail_begin].width;
  // A mark without the character that it sits on would land on the "…".
  while (tail_begin < all.size() && all[tail_begin].width == 0) ++tail_begin;

  std::string out(text.substr(0, head_end < all.size() ? all[head_end].at : text.size()));
  out += "…";
  if (tail_begin < all.size()) out += text.substr(all[tail_begin].at);
  return out;
}

}  // namespace fathom::render
