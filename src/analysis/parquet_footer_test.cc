// SPDX-License-Identifier: MIT
#include "analysis/parquet_footer.h"

#include <gtest/gtest.h>

#include <string>

namespace fathom::analysis {
namespace {

// Field 1, version 2; field 2, a list of one struct with a text, a number and a flag; field 3,
// rows.
std::string footer(const std::string& rows) {
  return std::string(
             "\x15\x04\x19\x1c\x48\x03"
             "abc\x15\x02\x11\x00\x16",
             14) +
         rows;
}

TEST(ParquetFooter, TellsTheNumberOfRows) {
  EXPECT_EQ(rows_of_footer(footer("\x54")), 42);
  EXPECT_EQ(rows_of_footer(footer("\x80\x89\x7a")), 1'000'000);
}

TEST(ParquetFooter, WhatIsCutTellsNothing) {
  const std::string whole = footer("\x80\x89\x7a");
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(rows_of_footer(whole.substr(0, length))) << length;
}

TEST(ParquetFooter, RubbishTellsNothing) {
  EXPECT_FALSE(rows_of_footer(footer("\x53"))) << "fewer than none";
  EXPECT_FALSE(rows_of_footer(std::string(200, '\x1c'))) << "structs in structs without an end";
  EXPECT_FALSE(rows_of_footer(std::string("\x18\xff\xff\xff\xff\x0f", 6))) << "a text without end";
  EXPECT_FALSE(rows_of_footer(std::string("\x1f\x00", 2))) << "no such type";
  const std::string last = "\x05\xfe" + std::string(8, '\xff') + "\x01\x02";  // the largest number
  EXPECT_FALSE(rows_of_footer(last + "\x15\x02")) << "a field behind the last one";
}

}  // namespace
}  // namespace fathom::analysis
