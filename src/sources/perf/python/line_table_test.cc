// SPDX-License-Identifier: MIT
#include "sources/perf/python/line_table.h"

#include <gtest/gtest.h>

#include <vector>

namespace fathom::sources {
namespace {

// def f(a):            # 1
//     b = a            # 2
//                      # 3
//     while b:         # 4
//         b = g(       # 5
//             a,       # 6
//             b)       # 7
//     try:             # 8
//         return b     # 9
//     finally:         # 10
//         b = 0        # 11
template <std::size_t size>
std::string_view bytes(const char (&text)[size]) {
  return {text, size - 1};
}

std::vector<int> lines(LineFormat format, std::string_view table, int from, int to) {
  std::vector<int> found;
  for (int offset = from; offset < to; offset += 2) {
    const int line = line_at(format, table, 1, static_cast<std::uint64_t>(offset));
    if (found.empty() || found.back() != line) found.push_back(line);
  }
  return found;
}

TEST(LineTable, OfPython38) {
  const std::string_view table =
      bytes("\x00\x01\x04\x02\x04\x01\x02\x01\x02\x01\x02\xfe\x06\x03\x02\x01\x08\x02");
  EXPECT_EQ(lines(LineFormat::kSteps, table, 0, 40),
            (std::vector<int>{2, 4, 5, 6, 7, 5, 8, 9, 11}));
  EXPECT_EQ(line_at(LineFormat::kSteps, table, 1, 3), 2);
  EXPECT_EQ(line_at(LineFormat::kSteps, table, 1, 4), 4);
  EXPECT_EQ(line_at(LineFormat::kSteps, table, 1, 29), 9);
  EXPECT_EQ(line_at(LineFormat::kSteps, table, 1, 30), 11);
}

TEST(LineTable, OfPython310) {
  const std::string_view table =
      bytes("\x04\x01\x04\x02\x02\x01\x02\x01\x02\x01\x04\xfe\x04\xff\x02\x04\x04\x01\x0c\x02");
  EXPECT_EQ(lines(LineFormat::kRanges, table, 0, 40),
            (std::vector<int>{2, 4, 5, 6, 7, 5, 4, 8, 9, 11}));
  EXPECT_EQ(line_at(LineFormat::kRanges, table, 1, 40), 0) << "behind the end";
  EXPECT_EQ(line_at(LineFormat::kRanges, bytes("\x04\x80\x04\x01"), 7, 2), 0) << "has no line";
  EXPECT_EQ(line_at(LineFormat::kRanges, bytes("\x04\x80\x04\x01"), 7, 4), 8);
}

TEST(LineTable, OfPython311) {
  const std::string_view table = bytes(
      "\x80\x00\xd8\x08\x09\x80\x41\xe0\x0a\x0b\xf0\x00\x03\x05\x0f\xdd\x0c\x0d\xd8\x0c\x0d\xd8\x0c"
      "\x0d\xf1\x05\x02\x0d\x0f\xf4\x00\x02\x0d\x0f\x88\x01\xf0\x03\x00\x0b\x0c\xf0\x00\x03\x05\x0f"
      "\xf0\x08\x03\x05\x0e\xd8\x0f\x10\xe0\x0c\x0d\x88\x01\x88\x01\xf8\x88\x41\x88\x01\x88\x05\x88"
      "\x05\x88\x05\x88\x05");
  EXPECT_EQ(lines(LineFormat::kLocations, table, 0, 56),
            (std::vector<int>{1, 2, 4, 5, 6, 7, 5, 4, 8, 9, 11}));
  EXPECT_EQ(line_at(LineFormat::kLocations, table, 1, 56), 0) << "has no line";
  EXPECT_EQ(line_at(LineFormat::kLocations, table, 1, 58), 11);
  EXPECT_EQ(line_at(LineFormat::kLocations, table, 1, 70), 0) << "behind the end";
}

TEST(LineTable, OfPython313) {
  const std::string_view table = bytes(
      "\x80\x00\xd8\x08\x09\x80\x41\xe6\x0a\x0b\xdc\x0c\x0d\xd8\x0c\x0d\xd8\x0c\x0d\xf3\x05\x02\x0d"
      "\x0f\x88\x01\xf7\x03\x00\x0b\x0c\x88\x21\xf0\x08\x03\x05\x0e\xd8\x0f\x10\xe0\x0c\x0d\x89\x01"
      "\xf8\x88\x41\x89\x01\xfa");
  EXPECT_EQ(lines(LineFormat::kLocations, table, 0, 72),
            (std::vector<int>{1, 2, 4, 5, 6, 7, 5, 4, 8, 9, 11}));
  EXPECT_EQ(line_at(LineFormat::kLocations, table, 1, 72), 0);
}

TEST(LineTable, ADamagedOneEnds) {
  const std::string all(100, '\xff');
  for (const auto format : {LineFormat::kSteps, LineFormat::kRanges, LineFormat::kLocations}) {
    EXPECT_GE(line_at(format, all, 1, 1000), 0);
    EXPECT_GE(line_at(format, all, -5, 0), 0);
    EXPECT_GE(line_at(format, "\xf0", 1, 0), 0) << "ends inside of an entry";
    EXPECT_GE(line_at(format, "", 1, 0), 0);
  }
}

}  // namespace
}  // namespace fathom::sources
