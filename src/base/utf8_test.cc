// SPDX-License-Identifier: MIT
#include "base/utf8.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Utf8, InvalidBytesAreEscapedAndTheRestIsKept) {
  struct Case {
    const char* name;
    std::string_view in;
    const char* want;
  };
  const Case cases[] = {
      {"empty", "", ""},
      {"ascii", "plain ascii, longer than eight bytes", "plain ascii, longer than eight bytes"},
      {"two, three and four bytes", "naïve 測深 🌊", "naïve 測深 🌊"},
      {"stray bytes", "bad-\xff\xfe-name", "bad-\\xff\\xfe-name"},
      {"a lone continuation", "a\x80z", "a\\x80z"},
      {"cut at the end", "深\xe6\xb8", "深\\xe6\\xb8"},
      {"overlong slash", "\xc0\xaf", "\\xc0\\xaf"},
      {"overlong in three bytes", "\xe0\x80\xaf", "\\xe0\\x80\\xaf"},
      {"a surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80"},
      {"above U+10FFFF", "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
      {"the last code point", "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
      {"a NUL is text", std::string_view("a\0b", 3), nullptr},
  };
  for (const Case& c : cases) {
    const std::string want = c.want != nullptr ? c.want : std::string(c.in);
    EXPECT_EQ(escape_invalid_utf8(c.in), want) << c.name;
    EXPECT_EQ(is_valid_utf8(c.in), want == c.in) << c.name;
  }
}

TEST(Utf8, CodePointsAreDecoded) {
  const std::string_view text = "aé測🌊";
  const char32_t want[] = {U'a', U'é', U'測', U'🌊'};
  std::size_t at = 0;
  for (const char32_t value : want) {
    const CodePoint point = code_point_at(text, at);
    EXPECT_TRUE(point.valid);
    EXPECT_EQ(point.value, value);
    at += point.length;
  }
  EXPECT_EQ(at, text.size());
}

}  // namespace
}  // namespace fathom
