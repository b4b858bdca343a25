// SPDX-License-Identifier: MIT
#include "sources/resources/gpu_sampler.h"

#include <gtest/gtest.h>

namespace fathom::sources {
namespace {

// The rest needs a library in the place of NVIDIA's: tests/e2e/test_gpus.py.
TEST(GpuSampler, SaysWhyThereIsNone) {
  std::string reason;
  const std::optional<GpuSampler> sampler = GpuSampler::open(reason);
  EXPECT_NE(sampler.has_value(), !reason.empty());
}

}  // namespace
}  // namespace fathom::sources
