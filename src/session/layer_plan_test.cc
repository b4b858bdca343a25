// SPDX-License-Identifier: MIT
#include "session/layer_plan.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fathom::session {
namespace {

// As this version, but with everything that it has a source for being available.
sources::Availability everything(std::string_view layer) {
  if (sources::source_of(layer) != nullptr) return {};
  return {.available = false, .reason = "not in this version", .fix = ""};
}

sources::Availability without_library(std::string_view layer) {
  const sources::SourceDef* source = sources::source_of(layer);
  if (source != nullptr && !source->in_process) return {};
  return {.available = false, .reason = "no library", .fix = "install it"};
}

TEST(LayerPlan, TakesWhatIsAskedFor) {
  struct Case {
    const char* asked;
    const char* layers;
    const char* in_process;
  };
  const Case cases[] = {
      {"app", "app", "app"},
      {"posix,app", "app posix", "app posix"},
      {" posix , app ", "app posix", "app posix"},
      {"resource", "resource", ""},
      {"gpu", "cuda gpu", "cuda gpu"},
      {"syscall", "syscall", ""},
      {"block,syscall", "syscall block", ""},
      {"python", "python", "python"},
      {"app,app", "app", "app"},
  };
  for (const Case& c : cases) {
    const Result<LayerPlan> plan = plan_layers(c.asked, everything);
    ASSERT_TRUE(plan) << c.asked << ": " << plan.error().message;
    EXPECT_EQ(join(plan->layers, " "), c.layers) << c.asked;
    EXPECT_EQ(join(plan->in_process, " "), c.in_process) << c.asked;
    const auto has = [&](const char* layer) { return plan->has(layer) ? 1U : 0U; };
    EXPECT_EQ(plan->hosts.size(), has("resource") + has("syscall")) << c.asked;
    EXPECT_EQ(plan->states.size(), sources::layers().size()) << c.asked;
  }
}

// Of all layers that there are, in their order.
TEST(LayerPlan, TakesTheUsualLayersAllOfThemOrSomeMore) {
  struct Case {
    const char* asked;
    bool all;
    std::vector<std::string_view> more;
  };
  const Case cases[] = {{"", false, {}},
                        {"default", false, {}},
                        {"all", true, {}},
                        {"+resource", false, {}},
                        {"+gpu", false, {"cuda", "gpu"}},
                        {"+syscall,block", false, {"syscall", "block"}},
                        {"+python", false, {"python"}}};
  for (const Case& c : cases) {
    std::vector<std::string> layers;
    std::vector<std::string> in_process;
    for (const sources::LayerDef& layer : sources::layers()) {
      const bool is_named = std::ranges::find(c.more, layer.name) != c.more.end();
      if (!c.all && !layer.by_default && !is_named) continue;
      layers.emplace_back(layer.name);
      if (sources::source_of(layer.name)->in_process) in_process.emplace_back(layer.name);
    }
    const Result<LayerPlan> plan = plan_layers(c.asked, everything);
    ASSERT_TRUE(plan) << c.asked << ": " << plan.error().message;
    EXPECT_EQ(plan->layers, layers) << c.asked;
    EXPECT_EQ(plan->in_process, in_process) << c.asked;
  }
}

TEST(LayerPlan, LeavesOut) {
  Result<LayerPlan> plan = plan_layers("posix,cpu,resource", everything);
  ASSERT_TRUE(plan);
  plan->leave_out("cpu", "turned off");
  plan->leave_out("heap", "was not planned");
  EXPECT_EQ(join(plan->layers, " "), "posix resource");
  EXPECT_EQ(plan->hosts.size(), 1U);
  EXPECT_EQ(plan->state_of("cpu"), "off");
  const auto reason = [&](std::string_view layer) {
    return std::ranges::find(plan->states, layer, &trace::LayerState::layer)->reason;
  };
  EXPECT_EQ(reason("cpu"), "turned off");
  EXPECT_EQ(reason("heap"), "not asked for (--layers +heap)");
}

TEST(LayerPlan, RefusesWhatDoesNotExistOrCannotBe) {
  struct Case {
    const char* asked;
    Code want;
  };
  const Case cases[] = {
      {"sound", Code::kUsage}, {"app,", Code::kUsage}, {"+", Code::kUsage}, {"App", Code::kUsage}};
  for (const Case& c : cases) {
    const Result<LayerPlan> plan = plan_layers(c.asked, everything);
    ASSERT_FALSE(plan) << c.asked;
    EXPECT_EQ(plan.error().code, c.want) << c.asked;
    EXPECT_FALSE(plan.error().hint.empty()) << c.asked;
  }
}

// What the machine has not got keeps nobody from recording the rest.
TEST(LayerPlan, GoesOnWithoutWhatTheMachineLacks) {
  const auto without_vfs = [](std::string_view layer) -> sources::Availability {
    if (layer != "vfs") return everything(layer);
    return {.available = false, .reason = "no such hook", .fix = "", .others_go_on = true};
  };
  const Result<LayerPlan> plan = plan_layers("syscall,vfs", without_vfs);
  ASSERT_TRUE(plan);
  EXPECT_EQ(join(plan->layers, " "), "syscall");
  EXPECT_EQ(plan->state_of("vfs"), "unavailable");
  EXPECT_EQ(plan->state_of("posix"), "off");
  const Result<LayerPlan> nothing = plan_layers("vfs", without_vfs);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, Code::kUnsupported);
  EXPECT_EQ(nothing.error().message, "layer vfs cannot be recorded: no such hook");
}

TEST(LayerPlan, SaysWhatOfALayerIsMissing) {
  const Result<LayerPlan> plan = plan_layers("syscall", [](std::string_view layer) {
    sources::Availability state = everything(layer);
    state.reason = layer == "syscall" ? "without io_uring" : state.reason;
    return state;
  });
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->state_of("syscall"), "partial");
  EXPECT_TRUE(plan->has("syscall"));
}

TEST(LayerPlan, WhatIsOffOrMissingHasAReason) {
  const Result<LayerPlan> plan = plan_layers("", without_library);
  ASSERT_TRUE(plan);
  for (const trace::LayerState& state : plan->states) {
    const bool from_outside = sources::find_layer(state.layer)->by_default &&
                              !sources::source_of(state.layer)->in_process;
    EXPECT_EQ(state.state == "on", from_outside) << state.layer;
    EXPECT_EQ(state.reason.empty(), from_outside) << state.layer;
  }
}

TEST(LayerPlan, WhatProgramsThatRunCanJoin) {
  const auto layers = [](const char* asked, bool named) {
    const Result<LayerPlan> plan = plan_layers(asked, probe_for_running(everything, named));
    return plan ? join(plan->layers, " ") : plan.error().message;
  };
  EXPECT_EQ(layers("cpu,syscall", false), "syscall cpu");
  EXPECT_EQ(layers("cpu,resource", true), "cpu resource");
  EXPECT_EQ(layers("resource", false), "resource");
  EXPECT_NE(layers("posix", true).find("cannot be joined"), std::string::npos);
}

}  // namespace
}  // namespace fathom::session
