// SPDX-License-Identifier: MIT
#include "session/gpu_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::session {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(GpuOptions, NothingAskedForIsNoVariable) {
  EXPECT_FALSE(GpuOptions().any());
  EXPECT_THAT(gpu_variables({}).value(), IsEmpty());
}

TEST(GpuOptions, BecomeVariables) {
  const GpuOptions options = {
      .waits = true, .graphs = "whole", .range = "profiler", .cupti = "none", .sample = 10};
  EXPECT_TRUE(options.any());
  EXPECT_THAT(
      gpu_variables(options).value(),
      ElementsAre("FATHOM_GPU_SYNC=1", "FATHOM_GPU_GRAPHS=whole", "FATHOM_GPU_RANGE=profiler",
                  "FATHOM_GPU_SAMPLE=10", "FATHOM_CUPTI=none"));
  EXPECT_THAT(gpu_variables({.cupti = "/proc/self/exe"}).value(),
              ElementsAre("FATHOM_CUPTI=/proc/self/exe"));
}

TEST(GpuOptions, WhatCannotBeMeantIsRefused) {
  const auto refused = [](const GpuOptions& options) {
    return !gpu_variables(options).has_value();
  };
  EXPECT_TRUE(refused({.graphs = "all"}));
  EXPECT_TRUE(refused({.range = "whole"}));
  EXPECT_TRUE(refused({.cupti = "/nonexistent/libcupti.so.13"}));
  EXPECT_TRUE(refused({.sample = -1}));
  EXPECT_TRUE(refused({.sample = 1'000'001}));
}

}  // namespace
}  // namespace fathom::session
