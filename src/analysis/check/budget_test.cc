// SPDX-License-Identifier: MIT
#include "analysis/check/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::analysis {
namespace {

using ::testing::HasSubstr;

TEST(BudgetLimit, HasTheUnitOfWhatIsMeasured) {
  struct Case {
    const char* text;
    Measure unit;
    double want;
  };
  for (const Case& c :
       {Case{"2 s", Measure::kNanoseconds, 2e9}, Case{"1.5ms", Measure::kNanoseconds, 1.5e6},
        Case{"3 min", Measure::kNanoseconds, 1.8e11}, Case{"0", Measure::kNanoseconds, 0},
        Case{"64 KiB", Measure::kBytes, 65536}, Case{"4096", Measure::kBytes, 4096},
        Case{"20%", Measure::kPercent, 20}, Case{"1e6", Measure::kCount, 1e6},
        Case{"7", Measure::kNone, 7}, Case{"7 MiB", Measure::kNone, 7 * 1048576.0}}) {
    const Result<Limit> limit = parse_limit(c.text, c.unit);
    ASSERT_TRUE(limit) << c.text;
    EXPECT_DOUBLE_EQ(limit->number, c.want) << c.text;
    EXPECT_FALSE(limit->relative);
  }
}

TEST(BudgetLimit, WithASignIsRelative) {
  const Result<Limit> more = parse_limit("+5%", Measure::kNanoseconds);
  ASSERT_TRUE(more);
  EXPECT_TRUE(more->relative && more->in_percent);
  EXPECT_EQ(more->number, 5);
  const Result<Limit> less = parse_limit("-10 ms", Measure::kNanoseconds);
  ASSERT_TRUE(less);
  EXPECT_TRUE(less->relative && !less->in_percent);
  EXPECT_EQ(less->number, -1e7);
}

TEST(BudgetLimit, RefusesWhatDoesNotFit) {
  for (const auto& [text, unit] : {std::pair{"2", Measure::kNanoseconds},
                                   {"2 MiB", Measure::kNanoseconds},
                                   {"2 s", Measure::kBytes},
                                   {"5", Measure::kPercent},
                                   {"5%", Measure::kCount},
                                   {"5 s", Measure::kCount},
                                   {"", Measure::kCount},
                                   {"much", Measure::kNone},
                                   {"5 parsecs", Measure::kNone},
                                   {"nan", Measure::kCount},
                                   {"inf", Measure::kCount},
                                   {"+-5", Measure::kCount},
                                   {"1e999", Measure::kCount}}) {
    EXPECT_FALSE(parse_limit(text, unit)) << text;
  }
}

TEST(BudgetFile, IsRead) {
  const auto budgets = parse_budgets(R"(# of the demo
budgets:
  - measure: wall
    max: 2 s
  - name: reads are quick
    function: pread*
    layer: posix
    measure: p99
    max: +5%
    min: 1 us
    optional: true
  - measure: insights
    severity: medium
  - sql: SELECT count(*) FROM events
    max: 10 KiB
)",
                                     "b.yaml");
  ASSERT_TRUE(budgets) << budgets.error().message;
  ASSERT_EQ(budgets->size(), 4U);
  const std::vector<Budget>& all = *budgets;
  EXPECT_EQ(all[0].name, "wall");
  EXPECT_EQ(all[0].line, 3U);
  EXPECT_EQ(all[0].max->number, 2e9);
  EXPECT_EQ(all[1].name, "reads are quick");
  EXPECT_TRUE(all[1].optional && all[1].relative());
  EXPECT_EQ(all[1].min->number, 1000);
  EXPECT_EQ(all[2].severity, Severity::kMedium);
  EXPECT_EQ(all[2].max->number, 0);
  EXPECT_EQ(all[3].name, "query in line 14");
  EXPECT_EQ(all[3].unit, Measure::kBytes);
}

// Whatever is not understood would be a budget that nobody checks.
TEST(BudgetFile, MistakesNameTheirLine) {
  struct Case {
    const char *text, *want;
  };
  for (const Case& c :
       {Case{"", "b:1: a budget file must be a mapping"},
        Case{"- a", "b:1: a budget file must be a mapping"},
        Case{"budgets:", "b:1: 'budgets' must be a list"},
        Case{"budgets: []", "b:1: 'budgets' must be a list"},
        Case{"budgets:\n - wall", "b:2: a budget must be a mapping"},
        Case{"limits: 1", "b:1: unknown key 'limits'"},
        Case{"budgets:\n - measure: wall\n   maxx: 2 s", "b:3: unknown key 'maxx'"},
        Case{"budgets:\n - measure: wall\n   max: 2 s\n   max: 3 s", "b:4: duplicate key 'max'"},
        Case{"budgets:\n - measure: wall\n", "b:2: a budget needs 'max' or 'min'"},
        Case{"budgets:\n - measure: wall\n   min: 1 s\n   max:\n", "'max' needs a string"},
        Case{"budgets:\n - measure: wall\n   max: [1]\n", "b:3: 'max' needs a string"},
        Case{"budgets:\n - measure: wall\n   max: 2\n", "b:3: '2' is not a limit"},
        Case{"budgets:\n - max: 2\n", "b:2: a budget needs 'measure' or 'sql'"},
        Case{"budgets:\n - measure: speed\n   max: 2\n", "b:2: unknown measure 'speed'"},
        Case{"budgets:\n - measure: wall\n   function: f\n   max: 2 s",
             "'function' cannot be used"},
        Case{"budgets:\n - measure: wall\n   severity: low\n   max: 2 s",
             "'severity' cannot be used"},
        Case{"budgets:\n - measure: insights\n   severity: good", "b:3: 'severity' must be high"},
        Case{"budgets:\n - sql: SELECT 1\n   measure: wall\n   max: 2",
             "'sql' and 'measure' cannot be used"},
        Case{"budgets:\n - sql: SELECT 1\n   layer: posix\n   max: 2", "'layer' cannot be used"},
        Case{"budgets:\n - counter: rss\n   measure: wall\n   max: 2", "unknown measure 'wall'"},
        Case{"budgets:\n - measure: wall\n   optional: maybe\n   max: 2 s",
             "b:3: 'optional' must be"},
        Case{"budgets:\n - measure: [wall\n", "invalid YAML"},
        Case{"budgets:\n\t- a", "b:2: invalid YAML"},
        Case{"? [a]\n: 1\n", "b:1: a key must be a string"}}) {
    const auto budgets = parse_budgets(c.text, "b");
    ASSERT_FALSE(budgets) << c.text;
    EXPECT_THAT(budgets.error().message, HasSubstr(c.want)) << c.text;
    EXPECT_EQ(exit_status(budgets.error().code), 3);
    EXPECT_FALSE(budgets.error().hint.empty());
  }
}

}  // namespace
}  // namespace fathom::analysis
