// SPDX-License-Identifier: MIT
#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>

namespace fathom {
namespace {

using ::testing::ElementsAre;

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_THAT(split("a,,b", ','), ElementsAre("a", "", "b"));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(split(",", ','), ElementsAre("", ""));
}

TEST(Text, JoinAndTrim) {
  EXPECT_EQ(join({"a", "", "b"}, ", "), "a, , b");
  EXPECT_EQ(join({}, ", "), "");
  EXPECT_EQ(trim(" \t a b \n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
}

TEST(Text, ShellReadsBackWhatWasQuoted) {
  for (const std::string word :
       {"plain", "", "two words", "it's", "$HOME `x` \"y\"", "new\nline", "*", "~"}) {
    const std::string command = "printf %s " + shell_quote(word);
    FILE* shell = popen(command.c_str(), "r");
    ASSERT_NE(shell, nullptr);
    std::array<char, 256> buffer{};
    const std::size_t got = fread(buffer.data(), 1, buffer.size(), shell);
    EXPECT_EQ(pclose(shell), 0);
    EXPECT_EQ(std::string(buffer.data(), got), word) << command;
  }
}

TEST(Text, QuotesOnlyWhereNeeded) {
  EXPECT_EQ(shell_join({"dd", "if=/dev/zero", "a b"}), "dd if=/dev/zero 'a b'");
}

TEST(Units, Bytes) {
  struct Case {
    double in;
    const char* want;
  };
  for (const Case& c :
       {Case{0, "0 B"}, Case{17, "17 B"}, Case{1023, "1023 B"}, Case{1024, "1.00 KiB"},
        Case{1536, "1.50 KiB"}, Case{1024 * 1024 - 1, "1.00 MiB"},
        Case{23.44 * 1024 * 1024, "23.4 MiB"}, Case{-2048, "-2.00 KiB"}, Case{5e18, "4441 PiB"}}) {
    EXPECT_EQ(human_bytes(c.in), c.want) << c.in;
  }
}

TEST(Units, Nanoseconds) {
  struct Case {
    double in;
    const char* want;
  };
  for (const Case& c : {Case{0, "0 ns"}, Case{999, "999 ns"}, Case{1500, "1.50 us"},
                        Case{999'999, "1.00 ms"}, Case{23.44e6, "23.4 ms"}, Case{61e9, "61.0 s"},
                        Case{3599.9e9, "3600 s"}, Case{3600e9, "1h 00m"}, Case{7500e9, "2h 05m"}}) {
    EXPECT_EQ(human_ns(c.in), c.want) << c.in;
  }
}

TEST(Units, Counts) {
  EXPECT_EQ(human_count(999), "999");
  EXPECT_EQ(human_count(1500), "1.50 k");
  EXPECT_EQ(human_count(100e6), "100 M");
}

TEST(Units, SizesAsPeopleWriteThem) {
  EXPECT_EQ(*parse_bytes("4096"), 4096U);
  EXPECT_EQ(*parse_bytes("64k"), 65536U);
  EXPECT_EQ(*parse_bytes("1.5GiB"), 1610612736U);
  EXPECT_EQ(*parse_bytes("2 MB"), 2097152U);
  EXPECT_EQ(*parse_bytes("10B"), 10U);
  for (const char* wrong :
       {"", "k", "-1", "4x", "4kk", "1e3", "nan", "inf", "99999999999P", "4iB", "0x10"}) {
    EXPECT_FALSE(parse_bytes(wrong).has_value()) << wrong;
  }
}

TEST(Units, WholeNumbers) {
  EXPECT_EQ(*parse_int("-42"), -42);
  for (const char* wrong : {"", "4 ", "4.0", "99999999999999999999", "x"}) {
    EXPECT_FALSE(parse_int(wrong).has_value()) << wrong;
  }
}

}  // namespace
}  // namespace fathom
