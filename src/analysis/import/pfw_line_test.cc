// SPDX-License-Identifier: MIT
#include "analysis/import/pfw_line.h"

#include <gtest/gtest.h>

#include <string>

#include "analysis/import/line_reader.h"

namespace fathom::analysis {
namespace {

using Outcome = PfwParser::Outcome;

class PfwLineTest : public ::testing::Test {
 protected:
  Outcome parse(std::string text) {
    size_ = text.size();
    text_ = std::move(text);
    text_.append(LineReader::kPadding, 'z');
    return parser_.parse(std::string_view(text_).substr(0, size_), line_);
  }
  std::string_view arg(std::string_view key) const {
    const PfwArg* const found = line_.find(key);
    return found == nullptr ? "(none)" : found->text;
  }

  PfwParser parser_;
  PfwLine line_;
  std::string text_;
  std::size_t size_ = 0;
};

TEST_F(PfwLineTest, NumbersAsTexts) {
  ASSERT_EQ(
      parse(
          R"( {"id":"3","name":"close","cat":"POSIX","pid":"12","tid":"24","ts":"1698","dur":"913","ph":"X",)"
          R"("args":{"hostname":"c1","ret":"0","fd":18}})"),
      Outcome::kLine);
  EXPECT_EQ(line_.kind, PfwKind::kComplete);
  EXPECT_EQ(line_.name, "close");
  EXPECT_EQ(line_.category, "POSIX");
  EXPECT_EQ(line_.pid, 12);
  EXPECT_EQ(line_.tid, 24);
  EXPECT_EQ(line_.ts, "1698");
  EXPECT_EQ(line_.dur, "913");
  EXPECT_EQ(arg("ret"), "0");
  EXPECT_EQ(arg("fd"), "18");
}

TEST_F(PfwLineTest, Kinds) {
  const std::pair<const char*, PfwKind> cases[] = {
      {R"("X")", PfwKind::kComplete}, {"1", PfwKind::kComplete}, {R"("C")", PfwKind::kCounter},
      {"2", PfwKind::kCounter},       {"3", PfwKind::kCounter},  {"4", PfwKind::kMetadata},
      {R"("M")", PfwKind::kMetadata}, {"9", PfwKind::kOther}};
  for (const auto& [text, kind] : cases) {
    ASSERT_EQ(parse(std::string(R"({"name":"n","ph":)") + text + "}"), Outcome::kLine) << text;
    EXPECT_EQ(line_.kind, kind) << text;
  }
}

TEST_F(PfwLineTest, ValuesOfAllTypes) {
  ASSERT_EQ(
      parse(
          R"({"args":{"a":1.5,"b":true,"c":null,"d":[1, 2],"e":{"f": "g"},"h":18446744073709551615,"i":"\u00e9\n"}})"),
      Outcome::kLine);
  EXPECT_EQ(arg("a"), "1.5");
  EXPECT_EQ(arg("b"), "true");
  EXPECT_EQ(arg("c"), "(none)");
  EXPECT_EQ(arg("d"), "[1,2]");
  EXPECT_EQ(arg("e"), R"({"f":"g"})");
  EXPECT_EQ(arg("h"), "18446744073709551615");
  EXPECT_EQ(arg("i"), "\xc3\xa9\n");
}

TEST_F(PfwLineTest, WhatSurroundsAnObject) {
  for (const char* text : {"[", "]", "", " \t\r", "[ ", ",", "],"})
    EXPECT_EQ(parse(text), Outcome::kNothing) << text;
  for (const char* text :
       {R"([{"name":"n"},)", R"({"name":"n"}])", R"(,{"name":"n"})", "{\"name\":\"n\"},\r"}) {
    EXPECT_EQ(parse(text), Outcome::kLine) << text;
    EXPECT_EQ(line_.name, "n") << text;
  }
}

TEST_F(PfwLineTest, Damage) {
  for (const char* text :
       {"hello", "{", R"({"name":"n")", R"({"name":"n","ts":1)", R"({"name" "n"})",
        R"({"pid":"x"})", R"({"args":3})", "12", R"({"a":1}{"b":2})", "\x01\x02"}) {
    EXPECT_EQ(parse(text), Outcome::kDamaged) << text;
  }
  EXPECT_EQ(parse(R"({"name":"n"})"), Outcome::kLine);  // the parser goes on
}

TEST_F(PfwLineTest, BytesThatAreNoText) {
  ASSERT_EQ(parse("{\"name\":\"n\",\"args\":{\"fname\":\"/a\xff/\tb\"}}"), Outcome::kLine);
  EXPECT_EQ(arg("fname"), "/a\\xff/\tb");
}

TEST(PfwNumbers, WholeAndReal) {
  EXPECT_EQ(number_of("12"), 12);
  EXPECT_EQ(number_of("-3"), -3);
  EXPECT_EQ(number_of("1.7e3"), 1700);
  EXPECT_EQ(number_of("1e300"), std::nullopt);
  EXPECT_EQ(number_of("12x"), std::nullopt);
  EXPECT_EQ(number_of(""), std::nullopt);
  EXPECT_EQ(real_of("4.967e-06"), 4.967e-06);
  EXPECT_EQ(real_of("inf"), std::nullopt);
}

}  // namespace
}  // namespace fathom::analysis
