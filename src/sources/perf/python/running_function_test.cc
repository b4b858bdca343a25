// SPDX-License-Identifier: MIT
#include "sources/perf/python/running_function.h"

#include <gtest/gtest.h>

#include "sources/perf/python/testing/fake_python.h"

namespace fathom::sources {
namespace {

using testing::FakePython;

constexpr std::size_t kRegister = 15;
constexpr std::size_t kOnStack = 100;
constexpr int kOften = 20;

class RunningFunctionTest : public ::testing::Test {
 protected:
  RunningFunctionTest() {
    burn_ = python_.codes.at(python_.code("burn"));
    consume_ = python_.codes.at(python_.code("consume"));
  }

  static std::uint64_t at(const CodePointer& code, std::uint64_t unit) {
    return code->begin + 2 * unit;
  }

  // The name, after which is learned what was right; "": nobody knows.
  std::string name(const SampledWords& words, const CodePointer& seen = nullptr) {
    const RunningFunction running(python_.codes, places_, loop_, words);
    const auto found = running.find(seen.get());
    running.learn(seen.get(), places_);
    return found ? found->code->function : "";
  }
  void learn(const SampledWords& words, const CodePointer& seen) {
    for (int i = 0; i < kOften; i++) (void)name(words, seen);
  }

  FakePython python_{*PythonLayout::of_version(12)};
  CodePointer burn_;
  CodePointer consume_;
  SampledLoop loop_;
  WordPlaces places_;
};

TEST_F(RunningFunctionTest, IsBelievedAtOnceWhereItsFrameStillRuns) {
  EXPECT_EQ(name({{kRegister, at(burn_, 4)}}, burn_), "burn");
  EXPECT_EQ(name({{kRegister, at(burn_, 4)}}), "") << "the word may be an old one";
  EXPECT_EQ(name({{kRegister, at(burn_, 4)}}, consume_), "") << "which of them ran?";
}

TEST_F(RunningFunctionTest, OldInstructionsAreFoundOut) {
  const SampledWords words = {{kRegister, at(burn_, 4)}, {kOnStack, at(consume_, 3)}};
  EXPECT_EQ(name(words, burn_), "") << "as long as nothing is known of the places";
  learn(words, burn_);
  EXPECT_EQ(name(words), "burn") << "though its frame is gone";
  EXPECT_EQ(name(words, consume_), "burn") << "though another function has its frame by now";
}

TEST_F(RunningFunctionTest, PlacesThatAreBelievedMustAgree) {
  learn({{kRegister, at(burn_, 4)}, {kOnStack, at(burn_, 3)}}, burn_);
  EXPECT_EQ(name({{kRegister, at(burn_, 5)}, {kOnStack, at(burn_, 3)}}), "burn");
  EXPECT_EQ(name({{kRegister, at(burn_, 4)}, {kOnStack, at(consume_, 3)}}), "");
  EXPECT_EQ(name({{kOnStack, at(consume_, 3)}}), "consume");
}

TEST_F(RunningFunctionTest, APlaceOfWhichNobodyKnowsMayContradict) {
  learn({{kRegister, at(burn_, 4)}}, burn_);
  const SampledWords words = {{kRegister, at(burn_, 4)}, {kOnStack, at(consume_, 3)}};
  EXPECT_EQ(name(words), "") << "the right one may be on the stack here";
  (void)name(words, burn_);
  (void)name(words, burn_);
  EXPECT_EQ(name(words), "burn") << "it was wrong twice";
}

TEST_F(RunningFunctionTest, AFrameOfWhichNoWordTellsTeachesNothing) {
  learn({{kRegister, at(burn_, 4)}}, burn_);
  const CodePointer later = python_.codes.at(python_.code("later"));
  for (int i = 0; i < kOften; i++) EXPECT_EQ(name({{kRegister, at(burn_, 4)}}, later), "burn");
}

TEST_F(RunningFunctionTest, WhatIsKeptForTheCallerIsNotItsOwn) {
  constexpr std::size_t kKeptRegister = 12;
  learn({{kRegister, at(burn_, 4)}, {kOnStack, at(burn_, 4)}}, burn_);
  loop_.caller.set(kKeptRegister, at(consume_, 3));
  ASSERT_TRUE(loop_.caller.is_kept(kKeptRegister));
  EXPECT_EQ(name({{kRegister, at(burn_, 4)}, {kOnStack, at(consume_, 3)}}), "burn");
}

TEST_F(RunningFunctionTest, TheNextInstructionOfOneFunction) {
  const RunningFunction running(python_.codes, places_, loop_,
                                {{kRegister, at(burn_, 4)}, {kOnStack, at(consume_, 3)}});
  EXPECT_EQ(running.next_in(*burn_), at(burn_, 4));
  EXPECT_EQ(running.next_in(*consume_), at(consume_, 3));
  EXPECT_EQ(running.next_in(*python_.codes.at(python_.code("later"))), std::nullopt);
  learn({{kRegister, at(burn_, 4)}}, burn_);
  EXPECT_EQ(running.next_in(*burn_), at(burn_, 4));
  EXPECT_EQ(running.next_in(*consume_), std::nullopt) << "a place that is believed says burn";
}

TEST_F(RunningFunctionTest, AFunctionThatWasNeverReadIsSearched) {
  learn({{kRegister, at(burn_, 4)}}, burn_);
  const std::uint64_t fresh = python_.code("fresh");
  const std::uint64_t begin = fresh + python_.layout.bytecode;
  EXPECT_EQ(name({{kRegister, begin + 6}}), "fresh");
  EXPECT_EQ(name({{kRegister, begin + 6}, {kOnStack, at(consume_, 3)}}), "")
      << "nor the old one on the stack";
  const std::uint64_t next = python_.code("next") + python_.layout.bytecode;
  EXPECT_EQ(name({{kRegister, at(burn_, 4)}, {kOnStack, next + 6}}), "")
      << "in a place of which nothing is known";
}

}  // namespace
}  // namespace fathom::sources
