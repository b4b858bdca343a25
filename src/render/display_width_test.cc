// SPDX-License-Identifier: MIT
#include "render/display_width.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace fathom::render {
namespace {

TEST(DisplayWidth, CountsColumnsAndNotBytes) {
  struct Case {
    const char* text;
    std::size_t want;
  };
  const Case cases[] = {
      {"", 0},     {"plain", 5},    {"naïve", 5},    {"e\u0301", 1}, {"測深", 4},
      {"한글", 4}, {"🌊", 2},        {"ｆｕｌｌ", 8}, {"a…b", 3},     {"█▏▁─", 4},
      {"ไทย", 3},  {"\xff\xfe", 2}, {"日本x", 5},
  };
  for (const Case& c : cases) EXPECT_EQ(display_width(c.text), c.want) << c.text;
}

TEST(ShortenMiddle, KeepsBothEnds) {
  struct Case {
    const char* text;
    std::size_t width;
    const char* want;
  };
  const Case cases[] = {
      {"/data/file", 10, "/data/file"},
      {"/data/train/shard-17.bin", 16, "/data…ard-17.bin"},
      {"abcdef", 1, "…"},
      {"abcdef", 0, ""},
      {"abcdef", 2, "a…"},
      {"void add<float>(int, float*)", 16, "void add<f…oat*)"},
      {"測深測深測深", 7, "測深…深"},
      {"測深測深測深", 6, "測深…"},
  };
  for (const Case& c : cases) {
    const std::string got = shorten_middle(c.text, c.width);
    EXPECT_EQ(got, c.want);
    EXPECT_LE(display_width(got), c.width) << got;
    EXPECT_TRUE(is_valid_utf8(got));
  }
}

TEST(ShortenMiddle, NeverExceedsItsWidthOrCutsACharacter) {
  const std::string text = "/home/naïve/測深/🌊🌊/e\u0301e\u0301/file.bin";
  for (std::size_t width = 0; width < display_width(text) + 2; ++width) {
    const std::string got = shorten_middle(text, width);
    EXPECT_LE(display_width(got), width);
    EXPECT_TRUE(is_valid_utf8(got)) << got;
  }
}

}  // namespace
}  // namespace fathom::render
