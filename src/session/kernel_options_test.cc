// SPDX-License-Identifier: MIT
#include "session/kernel_options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fathom::session {
namespace {

using Words = std::vector<std::string>;

Status refuse(const sources::SourceContext& asked) {
  return Error{Code::kUsage, "refused: " + asked.functions.front(), ""};
}

constexpr sources::SourceDef kWithoutCheck{.name = "a",
                                           .layers = {},
                                           .help = "",
                                           .in_process = false,
                                           .in_detail = true,
                                           .probe = nullptr,
                                           .make = nullptr};
constexpr sources::SourceDef kWithCheck{.name = "b",
                                        .layers = {},
                                        .help = "",
                                        .in_process = false,
                                        .check = refuse,
                                        .probe = nullptr,
                                        .make = nullptr};

TEST(KernelOptions, EverySourceThatCanIsAsked) {
  const Words functions{"malloc"}, none;
  LayerPlan plan;
  plan.hosts = {&kWithoutCheck};
  EXPECT_TRUE(check_sources({functions, none, none}, plan));
  plan.hosts = {&kWithoutCheck, &kWithCheck};
  const Status refused = check_sources({functions, none, none}, plan);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "refused: malloc");
}

TEST(KernelOptions, NamesOfTheKernelAreLayerKernel) {
  const Words functions{"tracepoint:sched_switch"}, none;
  LayerPlan plan;
  plan.states = {{"user", "off", "", 0}, {"kernel", "on", "", 0}};
  EXPECT_TRUE(check_sources({functions, none, none}, plan));
  plan.states = {{"user", "on", "", 0}, {"kernel", "off", "", 0}};
  const Status refused = check_sources({functions, none, none}, plan);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().hint, "add --layers +kernel");
  const sources::Availability unnamed = probe_for(functions)("user");
  EXPECT_FALSE(unnamed.available);
}

TEST(KernelOptions, LayerUserNeedsFunctionsAndSaysHowToNameThem) {
  const std::vector<std::string> none;
  const sources::Availability user = probe_for(none)("user");
  EXPECT_FALSE(user.available);
  EXPECT_EQ(user.fix, "--functions PATH:NAME");
}

TEST(KernelOptions, WordsThatMeanNothingAreRefused) {
  const Words functions{"malloc"}, some{"x"}, none;
  LayerPlan plan;
  plan.hosts = {&kWithoutCheck};
  EXPECT_TRUE(check_sources({none, none, some}, plan)) << "a filter of a layer of the kernel";
  EXPECT_FALSE(check_sources({none, some, none}, plan)) << "categories without functions";
  EXPECT_FALSE(check_sources({none, none, none, true}, plan)) << "returns without functions";
  plan.states = {{.layer = "user", .state = "off", .reason = "", .events = 0}};
  EXPECT_FALSE(check_sources({functions, none, none}, plan)) << "the layer is off";
  plan.hosts.clear();
  EXPECT_FALSE(check_sources({none, none, some}, plan)) << "a filter of nothing";
}

}  // namespace
}  // namespace fathom::session
