// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/escape.h"
#include "base/text.h"
#include "base/utf8.h"

namespace fathom {
namespace {

// What steers a display, each as somebody would put it into a name.
constexpr const char* kHarmful[] = {
    "\x1b[31m",  // colour
    "\x1b]0;title\x07", "\x7f",         "\b\r",
    "\xc2\x9b[m",  // C1 as UTF-8
    "\x9b[m",      // C1 as a byte
    "\xc2\x85",    // next line
    "\xd8\x9c",    // Arabic letter mark
    "\u200b\u200d",     "\u200e\u200f", "\u2028\u2029", "\u202a\u202e", "\u2060\u2066\u2069",
    "\ufeff",           "\u3164",
    "\xf3\xa0\x80\xa1",  // a tag
    "\xff\xfe",
};

bool is_calm(std::string_view text, std::string_view allowed) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    const bool let = point.value < 0x80 &&
                     allowed.find(static_cast<char>(point.value)) != std::string_view::npos;
    if (!point.valid || (steers_display(point.value) && !let)) return false;
    at += point.length;
  }
  return true;
}

TEST(Escape, NothingSteersTheDisplay) {
  for (const std::string text : kHarmful) {
    EXPECT_TRUE(is_calm(escape_control(text), "")) << escape_control(text);
    EXPECT_TRUE(is_calm(escape_name(text), "")) << escape_control(text);
    EXPECT_TRUE(is_calm(escape_cell(text), "\n\t")) << escape_control(text);
    EXPECT_TRUE(is_calm(escape_page(text), "\n\t\x1b")) << escape_control(text);
  }
}

TEST(Escape, ShowsWhatItWas) {
  EXPECT_EQ(escape_control("a\nb\tc\x1b[0m"), "a\\nb\\tc\\x1b[0m");
  EXPECT_EQ(escape_control("\xff naïve"), "\\xff naïve");
  EXPECT_EQ(escape_control("\u202egnp.exe"), "\\u{202e}gnp.exe");
  EXPECT_EQ(escape_control("\xc2\x9b"
                           "31m"),
            "\\u{9b}31m");
  EXPECT_EQ(escape_control("\xf3\xa0\x80\xa1"), "\\u{e0021}");
  EXPECT_EQ(escape_cell("a\nb\tc\r\x1b"), "a\nb\tc\\x0d\\x1b");
}

TEST(Escape, WhatIsSeenStays) {
  for (const std::string text :
       {"naïve-測深", "ملف", "❤️ 👩", "C:\\temp\\new", "a\\b", "\\"}) {
    EXPECT_EQ(escape_control(text), text);
    EXPECT_EQ(escape_cell(text), text);
    EXPECT_EQ(escape_page(text), text);
  }
  EXPECT_EQ(escape_name("naïve-測深 \\d+ \\"), "naïve-測深 \\d+ \\");
}

TEST(Escape, SentencesMayBeEscapedTwice) {
  for (const std::string text : kHarmful)
    EXPECT_EQ(escape_control(escape_control(text)), escape_control(text));
}

TEST(Escape, NamesThatDifferLookDifferent) {
  // All texts of up to four of these pieces.
  const std::string pieces[] = {"\\", "n", "\n", "\x1b", "x1b", "u{202e}", "\u202e", "\t"};
  std::set<std::string> shown;
  std::set<std::string> texts = {""};
  for (int length = 0; length < 4; ++length) {
    std::set<std::string> longer = texts;
    for (const std::string& text : texts) {
      for (const std::string& piece : pieces) longer.insert(text + piece);
    }
    texts = std::move(longer);
  }
  for (const std::string& text : texts) shown.insert(escape_name(text));
  EXPECT_EQ(shown.size(), texts.size());
}

TEST(Escape, PagesKeepTheirColoursAlone) {
  EXPECT_EQ(escape_page("\x1b[1;36mTitle\x1b[0m\n"), "\x1b[1;36mTitle\x1b[0m\n");
  EXPECT_EQ(escape_page("\x1b[2J\x1b]52;c;x\x07"), "\\x1b[2J\\x1b]52;c;x\\x07");
}

}  // namespace
}  // namespace fathom
