// SPDX-License-Identifier: MIT
#include "cli/run_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace fathom::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::string summary_of(const trace::Totals& totals) {
  const std::string directory = "here";
  return run_summary({directory, totals, trace::Strings()}, std::nullopt, 80);
}

TEST(RunSummary, LossesAreToldWhereThereAreSome) {
  trace::Totals totals;
  totals.manifest.losses = {
      {"posix", "no room", 3}, {"stdio", "never happened", 0}, {"", "cut", 1}};
  const std::string text = summary_of(totals);
  EXPECT_THAT(text, HasSubstr(", some lost\n"));
  EXPECT_THAT(text, HasSubstr("\n  lost: 3 no room (posix)\n  lost: 1 cut (all layers)\n"));
  EXPECT_THAT(text, Not(HasSubstr("never happened")));
}

TEST(RunSummary, NothingIsSaidOfNothing) {
  trace::Totals totals;
  totals.manifest.duration_ns = 1'500'000'000;
  totals.manifest.state = trace::RunState::kComplete;
  EXPECT_EQ(summary_of(totals),
            "fathom: 1.50 s wall time, 1 process, 0 events, nothing lost\n\n"
            "  recorded in here\n  next: fathom report here\n");
}

// Shares are of the threads' lives, as in view `time`.
TEST(RunSummary, WhatNoSampleTellsTakesNothingFromTheRest) {
  trace::Totals totals;
  totals.time = {.life = 57'000'000,
                 .running = 6'390'000,
                 .waiting = 2'000'000,
                 .ready = 17'400'000,
                 .functions = {{"work", 6'390'000}}};
  const std::string text = summary_of(totals);
  EXPECT_THAT(text, ContainsRegex("running  work +6[.]39 ms +11[.]2 %"));
  EXPECT_THAT(text, ContainsRegex("ready    .no CPU was free. +17[.]4 ms +30[.]5 %"));
  EXPECT_THAT(text, ContainsRegex("\n  unexplained +31[.]2 ms +54[.]8 %\n"));
}

// "Other functions" are other than those that are named.
TEST(RunSummary, WithoutANamedFunctionNoneIsAnother) {
  trace::Totals totals;
  totals.time = {.life = 10'000'000, .running = 6'000'000, .waiting = 4'000'000};
  const std::string text = summary_of(totals);
  EXPECT_THAT(text, ContainsRegex("\n  running +6[.]00 ms +60[.]0 %\n"));
  EXPECT_THAT(text, Not(HasSubstr("other functions")));
  totals.time.functions = {{"work", 5'000'000}};
  EXPECT_THAT(summary_of(totals), HasSubstr("running  (other functions)"));
}

TEST(RunSummary, OfThreadsThatNobodySampledNoTimeIsTold) {
  trace::Totals totals;
  totals.time.life = 57'000'000;
  EXPECT_THAT(summary_of(totals), Not(HasSubstr("threads' time")));
}

}  // namespace
}  // namespace fathom::cli
