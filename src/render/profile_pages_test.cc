// SPDX-License-Identifier: MIT
// What a newcomer reads of a profile. Whole pages are in tests/golden/application.
#include "render/profile_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::render {
namespace {

using analysis::Profile;
using ::testing::HasSubstr;
using ::testing::Not;

Profile small_profile() {
  Profile profile;
  profile.title = "app";
  profile.overhead.ratio = 1.25;
  profile.needs = {
      {.name = "cpu_cores", .unit = "cores", .amount = {.typical = 0.5, .peak = 1}},
      {.name = "gpu_busy", .measure = Measure::kPercent, .unit = "", .amount = {.reason = "none"}},
      {.name = "pids", .unit = "processes", .amount = {.typical = 2, .peak = 5}}};
  profile.recommend.margin = 0.2;
  return profile;
}

TEST(ProfileText, OverheadIsSaidInWords) {
  Profile profile = small_profile();
  EXPECT_THAT(profile_text(profile, {}), HasSubstr("the probed run took 25.0 % longer than the "
                                                   "plain one; one run of each"));
  profile.overhead.ratio = 0.9;
  EXPECT_THAT(profile_text(profile, {}), HasSubstr("took 10.0 % less than the plain one"));
  profile.overhead.low = 0.8;
  profile.overhead.high = 1.1;
  EXPECT_THAT(profile_text(profile, {}), HasSubstr("(95 % interval: -20.0 % to 10.0 %)."));
}

TEST(ProfileText, WhatWasNotMeasuredIsNoRow) {
  const std::string text = profile_text(small_profile(), {});
  EXPECT_THAT(text, HasSubstr("\nnot measured: gpu busy (none)\n"));
  EXPECT_THAT(text, HasSubstr("2 processes"));
  EXPECT_THAT(text, Not(HasSubstr("2.0 processes")));
  EXPECT_THAT(text, HasSubstr("limits are 20 % above the peak"));
}

TEST(ProfilePatch, TellsTheCommandForItsName) {
  const auto first_line = [](const std::string& name) {
    const std::string patch = profile_patch(small_profile(), name);
    return patch.substr(0, patch.find('\n'));
  };
  EXPECT_EQ(first_line("web-1"), "# kubectl patch deployment web-1 --patch-file THIS");
  for (const char* name : {"", "a b", "a;b", "$(x)", "-f", "a\nb"})
    EXPECT_EQ(first_line(name), "# kubectl patch deployment NAME --patch-file THIS") << name;
  EXPECT_THAT(profile_patch(small_profile(), ""), HasSubstr("- name: \"app\"\n"));
}

TEST(ProfileText, WhatANumberLacksIsSaidBelowTheTable) {
  Profile profile = small_profile();
  profile.needs.push_back({.name = "disk_write_rate",
                           .measure = Measure::kBytes,
                           .unit = "/s",
                           .amount = {.typical = 1, .peak = 2, .reason = "writes without some"}});
  const std::string text = profile_text(profile, {});
  EXPECT_THAT(text, HasSubstr("\ndisk write rate: writes without some\n"));
  EXPECT_THAT(text, HasSubstr("\ntypical: mean over the run; "));
  EXPECT_THAT(text, HasSubstr("\npeak: highest second; "));
  EXPECT_THAT(text, HasSubstr("2 B/s"));
  EXPECT_THAT(profile_html(profile), HasSubstr("<p class=\"note\">typical: mean over the run; "));
}

TEST(ProfileText, OneProcessIsOne) {
  Profile profile = small_profile();
  profile.needs = {
      {.name = "pids", .unit = "processes and threads", .amount = {.typical = 1, .peak = 3}}};
  const std::string text = profile_text(profile, {});
  EXPECT_THAT(text, HasSubstr("1 process or thread "));
  EXPECT_THAT(text, HasSubstr("3 processes and threads"));
}

TEST(ProfileText, EndsWithFunctionsByCallsOrElseBySamples) {
  Profile profile = small_profile();
  EXPECT_THAT(profile_text(profile, {}),
              HasSubstr("no function was recorded. Recorded are Python functions"));
  profile.hot = {.title = "Functions by sampled time",
                 .columns = {{"function"}, {"self", Measure::kNanoseconds}},
                 .rows = {{std::string("burn"), std::int64_t{7}}},
                 .note = ""};
  EXPECT_THAT(profile_text(profile, {}), HasSubstr("burn"));
  profile.functions = {{.name = "main", .layer = "python", .module = "m", .self_s = 2},
                       {.name = "tiny", .layer = "python", .module = "m", .self_s = 0.0001}};
  const std::string text = profile_text(profile, {});
  EXPECT_THAT(text, HasSubstr("main"));
  EXPECT_THAT(text, Not(HasSubstr("tiny")));
  EXPECT_THAT(text, HasSubstr("1 more in profile.json"));
  EXPECT_THAT(profile_json(profile), HasSubstr("tiny"));
  EXPECT_THAT(profile_html(profile), HasSubstr("burn"));
}

}  // namespace
}  // namespace fathom::render
