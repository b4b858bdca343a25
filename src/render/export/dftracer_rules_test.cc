// SPDX-License-Identifier: MIT
#include "render/export/dftracer_rules.h"

#include <gtest/gtest.h>

namespace fathom::render {
namespace {

constexpr ExportArg kArgs[] = {{"step", "12"}, {"kind", "train"}};
constexpr DftracerFacts kStat = {.name = "__xstat64",
                                 .cat = "POSIX",
                                 .app = "test_cpp",
                                 .ts = 1'700'000'000,
                                 .dur = 900,
                                 .rank = {},
                                 .args = kArgs};

bool fits(std::string_view rule) {
  const auto parsed = parse_dftracer_rule(rule);
  EXPECT_TRUE(parsed) << rule;
  return parsed && parsed->fits(kStat);
}

TEST(DftracerRules, FitsAsItSays) {
  for (const char* rule : {"cat == 'POSIX'",
                           "cat == \"POSIX\"",
                           "  name != read ",
                           "cat IN {'POSIX','STDIO'}",
                           "cat IN {'STDIO', 'POSIX'}",
                           "name LIKE '*stat*'",
                           "name LIKE '__x*'",
                           "name LIKE '*64'",
                           "name LIKE '__*st*t*'",
                           "name LIKE '*'",
                           "dur > 899",
                           "dur >= 900",
                           "dur <= 900",
                           "dur < 900.5",
                           "NOT dur < 900",
                           "cat == 'STDIO' OR dur == 900",
                           "name LIKE '*stat*' AND app LIKE 'test*'",
                           "tags.step > 5",
                           "tags.kind == 'train'",
                           "tags.step == '12'",
                           "ts > 1"})
    EXPECT_TRUE(fits(rule)) << rule;
}

TEST(DftracerRules, FitsNothingElse) {
  for (const char* rule :
       {"cat == 'posix'", "cat IN {'STDIO'}", "name LIKE 'stat*'", "name LIKE '*stat'",
        "name LIKE 'stat'", "name LIKE '__xstat64*4'", "dur > 900", "dur > many", "rank == 0",
        "rank >= 0", "unknown == 1", "tags.epoch == 1", "NOT cat == 'POSIX'", "dur LIKE '9*'",
        "cat == 'POSIX' AND dur > 1000"})
    EXPECT_FALSE(fits(rule)) << rule;
}

// As DFTracer divides them: A AND (B OR C), NOT (A AND B).
TEST(DftracerRules, DividesAtAndFirst) {
  EXPECT_FALSE(fits("cat == 'STDIO' AND dur > 1 OR dur > 1"));
  EXPECT_TRUE(fits("NOT cat == 'STDIO' AND dur > 1"));
}

TEST(DftracerRules, SaysWhatItDoesNotUnderstand) {
  std::string deep;
  for (int i = 0; i < 5000; i++) deep += "NOT ";
  for (const std::string& rule :
       {std::string(), std::string("stat"), std::string("cat IN {'POSIX'"), deep + "dur > 1",
        std::string("cat == 'POSIX' AND stat")})
    EXPECT_FALSE(parse_dftracer_rule(rule)) << rule;
}

TEST(DftracerRules, ChoosesWhatIsIncludedAndNotExcluded) {
  DftracerRules rules;
  EXPECT_TRUE(rules.choose(kStat));
  rules.include("stat");
  EXPECT_FALSE(rules.choose(kStat));
  rules.include("cat == 'STDIO'");
  EXPECT_FALSE(rules.choose(kStat));
  rules.include("cat == 'POSIX'");
  EXPECT_TRUE(rules.choose(kStat));
  rules.exclude("dur > 1000");
  EXPECT_TRUE(rules.choose(kStat));
  rules.exclude("name LIKE '*64'");
  EXPECT_FALSE(rules.choose(kStat));
}

}  // namespace
}  // namespace fathom::render
