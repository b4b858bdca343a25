// SPDX-License-Identifier: MIT
#include "base/memory_limit.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/memory.h"
#include "base/testing/sanitized.h"

namespace fathom {
namespace {

constexpr std::uint64_t kMiB = 1ULL << 20U;

TEST(MemoryLimit, IsReadAsPeopleWriteIt) {
  EXPECT_EQ(MemoryLimit::parse("--memory", "2GiB").value().bytes(), 2048 * kMiB);
  EXPECT_EQ(MemoryLimit::parse("--memory", "16M").value().bytes(), 16 * kMiB);
  EXPECT_EQ(MemoryLimit().bytes(), usable_memory() / 2);
  for (const char* wrong : {"", "0", "-1", "15M", "lots"}) {
    const Result<MemoryLimit> limit = MemoryLimit::parse("--memory", wrong);
    ASSERT_FALSE(limit) << wrong;
    EXPECT_EQ(limit.error().code, Code::kUsage);
    EXPECT_EQ(limit.error().message, std::string("--memory '") + wrong + "' is not a valid limit");
  }
}

TEST(MemoryLimit, LeavesAFifthToUs) {
  EXPECT_EQ(MemoryLimit(100 * kMiB).of_store(), std::to_string(80 * kMiB) + "B");
}

TEST(MemoryLimit, CountsWhatComesAfterTheBeginning) {
  if (kHasShadowMemory) GTEST_SKIP() << "a sanitizer's memory counts, too";
  MemoryLimit limit(16 * kMiB);
  const std::vector<char> before(256 * kMiB, 'x');
  EXPECT_FALSE(limit.is_exceeded()) << "it has not begun";
  limit.begin();
  EXPECT_FALSE(limit.is_exceeded());
  const std::vector<char> more(200 * kMiB, 'x');
  EXPECT_TRUE(limit.is_exceeded());
  EXPECT_FALSE(limit.is_exceeded(2)) << "a second room is left";
  EXPECT_EQ(limit.refusal("the query", "ask less").message,
            "the query needs more memory than 16.0 MiB");
}

}  // namespace
}  // namespace fathom
