// SPDX-License-Identifier: MIT
#include "analysis/insights/rule.h"

#include <gtest/gtest.h>

namespace fathom::analysis {
namespace {

constexpr char kSound[] =
    "-- SPDX-License-Identifier: MIT\n"
    "-- id: a-rule\n"
    "-- severity: low\n"
    "-- title: A title\n"
    "-- says: {n:count} things\n"
    "--   of {what}\n"
    "-- gain:\n"
    "-- try: less\n"
    "SELECT 1 AS n;\n"
    "-- evidence:\n"
    "SELECT 2;\n";

TEST(Rule, IsReadWithItsParts) {
  const Result<Rule> rule = parse_rule(kSound, "here");
  ASSERT_TRUE(rule) << rule.error().message;
  EXPECT_EQ(rule->id, "a-rule");
  EXPECT_EQ(rule->severity, Severity::kLow);
  EXPECT_EQ(rule->says, "{n:count} things of {what}");
  EXPECT_EQ(rule->gain, "");
  EXPECT_EQ(rule->query, "SELECT 1 AS n");
  EXPECT_EQ(rule->evidence, "SELECT 2");
}

std::string without(std::string text, const std::string& part, const std::string& instead = "") {
  text.replace(text.find(part), part.size(), instead);
  return text;
}

TEST(Rule, NamesKindsOfLayers) {
  const Result<Rule> rule = parse_rule(
      without(without(kSound, "1 AS n", "layer IN @io AS n"), "SELECT 2", "SELECT @own"), "here");
  ASSERT_TRUE(rule) << rule.error().message;
  EXPECT_EQ(rule->query, "SELECT layer IN ('stdio', 'posix') AS n");
  EXPECT_EQ(rule->evidence, "SELECT ('app', 'python', 'stdio', 'posix')");
}

TEST(Rule, SaysWhatARecordingMustHave) {
  const Result<Rule> plain = parse_rule(kSound, "here");
  EXPECT_TRUE(plain->needs.empty());
  const Result<Rule> rule = parse_rule(
      without(kSound, "-- title:", "-- of: read 1000, processes 2,stdio\n-- title:"), "here");
  ASSERT_TRUE(rule) << rule.error().message;
  ASSERT_EQ(rule->needs.size(), 3U);
  EXPECT_EQ(rule->needs[0].of, "read");
  EXPECT_EQ(rule->needs[0].least, 1000);
  EXPECT_EQ(rule->needs[1].of, "processes");
  EXPECT_EQ(rule->needs[2].of, "stdio");
  EXPECT_EQ(rule->needs[2].least, 0);
}

TEST(Rule, APlaceIsAConditionWithValuesOrAView) {
  const Result<Rule> rule = parse_rule(
      without(kSound,
              "-- title:", "-- place: events where layer IN @io AND pid = {n:sql}\n-- title:"),
      "here");
  ASSERT_TRUE(rule) << rule.error().message;
  EXPECT_EQ(rule->place, "events where layer IN ('stdio', 'posix') AND pid = {n:sql}");
  EXPECT_EQ(parse_rule(kSound, "here")->place, "");
  EXPECT_TRUE(is_place("view gpu"));
  EXPECT_TRUE(is_place("samples where ready > 0"));
  EXPECT_FALSE(is_place("view "));
  EXPECT_FALSE(is_place("counters where true"));
}

TEST(Rule, SaysWhatIsWrongWithIt) {
  const struct {
    std::string text, what;
  } cases[] = {
      {"", "there is no '-- id:'"},
      {without(kSound, "-- try: less\n"), "there is no '-- try:'"},
      {without(kSound, "-- try:", "-- tip:"), "there is no '-- try:'"},
      {without(kSound, "-- gain:", "-- loss:"), "unknown key 'loss'"},
      {without(kSound, "-- title:", "-- of: read many\n-- title:"), "is not 'layer number'"},
      {without(kSound, "-- title:", "-- place: files\n-- title:"), "a place begins with"},
      {without(kSound, "-- title:", "-- place: events where \n-- title:"), "a place begins with"},
      {without(kSound, "low", "grave"), "the severity is high, medium, low or good"},
      {without(kSound, "a-rule", "A rule"), "an id is made of"},
      {without(kSound, "-- title: A title\n", "-- title\n"), "is not 'key: text'"},
      {without(kSound, "SELECT 1 AS n;\n"), "there is no query"},
      {without(kSound, "-- evidence:\n"), "there is no '-- evidence:'"},
      {without(kSound, "SELECT 2;\n"), "there is no query after"},
      {without(kSound, "less", "\xff"), "it is not UTF-8 text"},
  };
  for (const auto& one : cases) {
    const Result<Rule> rule = parse_rule(one.text, "rules/x.sql");
    ASSERT_FALSE(rule) << one.what;
    EXPECT_NE(rule.error().message.find(one.what), std::string::npos) << rule.error().message;
    EXPECT_TRUE(rule.error().message.starts_with("rules/x.sql: ")) << rule.error().message;
  }
}

TEST(Rule, FillsInValues) {
  Table table;
  table.columns = {{"n"}, {"size"}, {"time"}, {"share"}, {"name"}, {"none"}, {"one"}, {"two"}};
  table.rows = {{std::int64_t{1500}, std::int64_t{4096}, 2.5e9, 12.34, std::string("a\nb"), Value(),
                 std::int64_t{1}, std::int64_t{2}}};
  const auto filled = [&](std::string_view words) { return fill_in(words, table, table.rows[0]); };
  EXPECT_EQ(*filled("{n:count} {size:bytes} {time:ns} {share:percent} {name:text} {none:ns}"),
            "1.50 k 4.00 KiB 2.50 s 12.3 % a\nb ?");
  EXPECT_EQ(*filled("{n:count file} of {one:count process}, {two:count process}"),
            "1.50 k files of 1 process, 2 processes");
  EXPECT_EQ(*filled("{none:count file}"), "?");
  EXPECT_EQ(*filled("{n} plain"), "1500 plain");
  table.rows[0][4] = std::string("it's");
  EXPECT_EQ(*filled("{n:sql} {time:sql} {name:sql} {none:sql}"), "1500 2500000000 'it''s' NULL");
  EXPECT_FALSE(filled("{other:count}"));
  EXPECT_FALSE(filled("{n:apples}"));
  EXPECT_FALSE(filled("{n:count"));
}

}  // namespace
}  // namespace fathom::analysis
