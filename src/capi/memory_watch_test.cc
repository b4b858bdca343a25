// SPDX-License-Identifier: MIT
#include "capi/memory_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace fathom::capi {
namespace {

constexpr std::uint64_t kMiB = 1ULL << 20U;

TEST(MemoryWatch, StopsAQuestionThatGrows) {
  std::atomic<int> stops = 0;
  MemoryWatch watch(MemoryLimit(16 * kMiB), [&] { ++stops; });
  std::vector<char> held(256 * kMiB, 'x');
  for (int naps = 0; naps < 1000 && stops < 2; ++naps)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_GE(stops, 2) << "until it ends";
  const Result<int> judged = watch.judged(Result<int>(7));
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().message, "the query needs more memory than 16.0 MiB");
}

TEST(MemoryWatch, LeavesOthersAlone) {
  MemoryWatch watch(MemoryLimit(16 * kMiB), [] { FAIL(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_EQ(watch.judged(Result<int>(7)).value(), 7);
}

TEST(MemoryWatch, KnowsWhatIsALimit) {
  EXPECT_EQ(memory_limit("2GiB").value().bytes(), 2048 * kMiB);
  EXPECT_GT(memory_limit(nullptr).value().bytes(), 0U);
  EXPECT_FALSE(memory_limit("lots"));
}

}  // namespace
}  // namespace fathom::capi
