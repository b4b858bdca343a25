// SPDX-License-Identifier: MIT
#include "analysis/walk/sorted_runs.h"

#include <gtest/gtest.h>

#include <random>

namespace fathom::analysis {
namespace {

struct Case {
  const char* name;
  std::size_t rows;
  std::size_t in_memory;
  std::size_t runs;  // that went to the file
};

class SortedRunsTest : public ::testing::TestWithParam<Case> {};

TEST_P(SortedRunsTest, GivesAllRowsInOrder) {
  const Case& given = GetParam();
  std::mt19937_64 dice(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same every time
  SortedRuns<std::int64_t> rows(given.in_memory);
  std::vector<std::int64_t> wanted;
  for (std::size_t i = 0; i < given.rows; ++i) {
    wanted.push_back(static_cast<std::int64_t>(dice() % 1000));
    rows.add(wanted.back());
  }
  std::sort(wanted.begin(), wanted.end());
  std::vector<std::int64_t> got;
  const Status taken = rows.take([&](std::int64_t row) { got.push_back(row); });
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(got, wanted);
  EXPECT_EQ(rows.runs(), given.runs);
}

INSTANTIATE_TEST_SUITE_P(Sizes, SortedRunsTest,
                         ::testing::Values(Case{"none", 0, 4, 0}, Case{"one", 1, 4, 0},
                                           Case{"full", 4, 4, 0}, Case{"two_runs", 5, 4, 2},
                                           Case{"many_runs", 1000, 10, 100},
                                           Case{"long_runs", 60'000, 20'000, 3}),
                         [](const auto& test) { return test.param.name; });

TEST(SortedRuns, SaysThatItCannotWrite) {
  ASSERT_EQ(setenv("TMPDIR", "/nowhere/at/all", 1), 0);
  SortedRuns<std::int64_t> rows(1);
  for (std::int64_t i = 0; i < 3; ++i) rows.add(i);
  unsetenv("TMPDIR");
  EXPECT_FALSE(rows.take([](std::int64_t) {}));
}

}  // namespace
}  // namespace fathom::analysis
