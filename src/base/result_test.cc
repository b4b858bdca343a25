// SPDX-License-Identifier: MIT
#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace fathom {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return Error{Code::kInvalid, "odd", "take an even one"};
  return number / 2;
}

Result<int> quarter(int number) {
  FATHOM_ASSIGN(const int once, half(number));
  FATHOM_ASSIGN(const int twice, half(once));
  return twice;
}

Status check_even(int number) {
  FATHOM_TRY(half(number));
  return {};
}

TEST(Result, ValueOrError) {
  EXPECT_EQ(*half(8), 4);
  EXPECT_FALSE(half(7).has_value());
  EXPECT_EQ(half(7).error().hint, "take an even one");
}

TEST(Result, MacrosReturnTheFirstError) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().message, "odd");
  EXPECT_TRUE(check_even(2).has_value());
  EXPECT_EQ(check_even(3).error().code, Code::kInvalid);
}

TEST(Result, HoldsWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 5);
}

TEST(Result, ContextGoesInFront) {
  const Error error = Error{Code::kIo, "disk full", ""}.with("write b").with("pack a");
  EXPECT_EQ(error.message, "pack a: write b: disk full");
}

TEST(Result, ExitStatusOfCodes) {
  EXPECT_EQ(exit_status(Code::kUsage), 2);
  EXPECT_EQ(exit_status(Code::kInvalid), 3);
  EXPECT_EQ(exit_status(Code::kDenied), 3);
}

}  // namespace
}  // namespace fathom
