// SPDX-License-Identifier: MIT
#include "symbols/unwind/registers.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace fathom::symbols {
namespace {

TEST(Registers, OfPerfAreThoseOfDwarf) {
  const std::uint64_t mask = perf_register_mask(Machine::kX86);
  EXPECT_EQ(mask, 0xff01ffU);  // ax … ip, r8 … r15
  std::vector<std::uint64_t> values;
  for (int i = 0; i < std::popcount(mask); ++i) values.push_back(100 + static_cast<unsigned>(i));
  const auto registers = Registers::of_perf(Machine::kX86, mask, values);
  ASSERT_TRUE(registers);
  EXPECT_EQ(registers->get(0), 100U);  // ax
  EXPECT_EQ(registers->get(3), 101U);  // bx
  EXPECT_EQ(registers->get(1), 103U);  // dx
  EXPECT_EQ(registers->get(6), 106U);  // bp
  EXPECT_EQ(registers->get(7), 107U);  // sp
  EXPECT_EQ(registers->pc, 108U);
  EXPECT_EQ(registers->get(8), 109U);
  EXPECT_EQ(registers->get(15), 116U);
  EXPECT_EQ(registers->get(16), std::nullopt);
  EXPECT_EQ(registers->get(1000), std::nullopt);
}

TEST(Registers, OfAarch64) {
  const std::uint64_t mask = perf_register_mask(Machine::kAarch64);
  EXPECT_EQ(mask, 0x1ffffffffU);
  std::vector<std::uint64_t> values(33);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i * 3;
  const auto registers = Registers::of_perf(Machine::kAarch64, mask, values);
  ASSERT_TRUE(registers);
  EXPECT_EQ(registers->get(30), 90U);
  EXPECT_EQ(registers->get(31), 93U);
  EXPECT_EQ(registers->pc, 96U);
}

TEST(Registers, WithoutStackPointerOrPcThereAreNone) {
  const std::vector<std::uint64_t> values = {1, 2};
  EXPECT_FALSE(Registers::of_perf(Machine::kX86, 1U << 7U, values));
  EXPECT_FALSE(Registers::of_perf(Machine::kX86, 1U << 8U, values));
  EXPECT_TRUE(Registers::of_perf(Machine::kX86, 3U << 7U, values));
  EXPECT_FALSE(Registers::of_perf(Machine::kX86, 3U << 7U, {}));
}

}  // namespace
}  // namespace fathom::symbols
