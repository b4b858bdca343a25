// SPDX-License-Identifier: MIT
#include "containers/text_finder.h"

#include <gtest/gtest.h>

namespace fathom::containers {
namespace {

bool finds(std::string_view wanted, std::string_view text, std::size_t piece) {
  LineFinder finder(wanted);
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size())))
    finder.feed(text.substr(0, piece));
  return finder.finish();
}

struct Case {
  const char *wanted, *text;
  bool found;
};

TEST(TextFinder, TextAndTheEndsOfLines) {
  constexpr Case kCases[] = {{"done", "all done.", true},
                             {"done", "don\ne", false},
                             {"^done", "all done", false},
                             {"^done", "done", true},
                             {"^done", "x\ndone 3", true},
                             {"done$", "done.\n", false},
                             {"done$", "all done\nx", true},
                             {"done$", "all done\r\nx", true},
                             {"done$", "all done", true},
                             {"^done$", "x\ndone\n", true},
                             {"^done$", "x done\n", false},
                             {"aab", "aaaab", true},
                             {"abab$", "ababa\nabab", true},
                             {"^^", "a^\n", false},
                             {"^^", "a\n^", true},
                             {"done", "", false},
                             {"$", "3 $", true},
                             {"$", "3", false}};
  for (const Case& one : kCases) {
    for (std::size_t piece = 1; piece < 12; ++piece)
      EXPECT_EQ(finds(one.wanted, one.text, piece), one.found) << one.wanted << " " << one.text;
  }
}

TEST(TextFinder, SomethingToLookFor) {
  EXPECT_TRUE(is_findable("x"));
  EXPECT_TRUE(is_findable("$"));
  for (const char* nothing : {"", "^", "^$"}) EXPECT_FALSE(is_findable(nothing)) << nothing;
  EXPECT_FALSE(is_findable(std::string(1025, 'x')));
}

// A search that begins anew behind each byte would take a thousand times as many steps.
TEST(TextFinder, ATextMadeToBeSlowIsNot) {
  const std::string text(std::size_t{16} << 20U, 'a');
  EXPECT_FALSE(finds(std::string(1023, 'a') + "b", text, text.size()));
}

}  // namespace
}  // namespace fathom::containers
