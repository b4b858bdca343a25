// SPDX-License-Identifier: MIT
// The C stack: `key` is called by C code (sorted), which `middle` calls, which `module` calls.
#include "sources/perf/python/stack_merge.h"

#include <gtest/gtest.h>

#include "sources/perf/python/testing/fake_python.h"

namespace fathom::sources {
namespace {

using testing::FakePython;
constexpr std::uint64_t kStack = 0x7fff0000;
constexpr int kFrameRegister = 3;
constexpr int kInstructionRegister = 12;

PythonLayout layout_13() {
  PythonLayout layout = *PythonLayout::of_version(12);
  layout.minor = 13;
  layout.top_in_record = PythonLayout::kNone;
  return layout;
}

class StackMergeTest : public ::testing::Test {
 protected:
  StackMergeTest() {
    module_ = python_.code("module", 100);
    middle_ = python_.code("middle", 200);
    key_ = python_.code("key", 300);
    other_ = python_.code("other", 400);
    for (const std::uint64_t code : {module_, middle_, key_, other_}) (void)python_.codes.at(code);
    size_ = python_.codes.at(key_)->frame_bytes;
    python_.mark(outer_mark(), 0);
    python_.frame(kFrames, module_, outer_mark(), 1);
    python_.frame(kFrames + size_, middle_, kFrames, 2);
    python_.mark(inner_mark(), kFrames + size_);
    python_.frame(kFrames + 2 * size_, key_, inner_mark(), 3);
    thread_ = python_.thread(kFrames + 2 * size_);
    // C functions, innermost first: a leaf, the loop of key, its helper, sorted, the loop of
    // module and middle, main.
    roles_ = {NativeRole::kOther,  NativeRole::kLoop, NativeRole::kHelper, NativeRole::kOther,
              NativeRole::kHelper, NativeRole::kLoop, NativeRole::kHelper, NativeRole::kOther};
    loop(1, kStack + 0x100, kFrames + 2 * size_, python_.instruction(key_, 4));
    loop(5, kStack + 0x400, kFrames + size_, python_.instruction(middle_, 3));
  }

  static std::uint64_t inner_mark() { return kStack + 0x180; }
  static std::uint64_t outer_mark() { return kStack + 0x480; }

  void loop(std::size_t index, std::uint64_t begin, std::uint64_t frame,
            std::uint64_t instruction) {
    SampledLoop made;
    made.index = index;
    made.begin = begin;
    made.end = begin + 0x100;
    made.registers.set(kFrameRegister, frame);
    made.registers.set(kInstructionRegister, instruction);
    loops_.push_back(made);
  }

  // "name:line" of Python, numbers of C functions.
  std::vector<std::string> merged(bool whole = true) {
    PythonStack live = python_.reader.stack(thread_);
    live.compare_with(before_);
    before_ = live;
    const SampledStack stack{roles_, loops_, {kStack, std::string_view(copy_)}, whole};
    std::vector<std::string> found;
    for (const MergedFrame& frame :
         StackMerge(python_.reader, python_.codes, places_, live).merge(stack)) {
      found.push_back(frame.code ? frame.code->function + ":" + std::to_string(frame.line)
                                 : std::to_string(frame.native));
    }
    return found;
  }
  using Names = std::vector<std::string>;

  // Where the frame and the instruction stand.
  void learn() {
    for (int i = 0; i < 20; i++) (void)merged();
  }

  static constexpr std::uint64_t kFrames = 0x9000;
  FakePython python_{layout_13()};
  std::uint64_t module_ = 0;
  std::uint64_t middle_ = 0;
  std::uint64_t key_ = 0;
  std::uint64_t other_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t thread_ = 0;
  std::vector<NativeRole> roles_;
  std::vector<SampledLoop> loops_;
  std::string copy_ = std::string(0x800, '\0');
  LoopPlaces places_;
  PythonStack before_;
};

TEST_F(StackMergeTest, PythonStandsWhereItsLoopsWere) {
  EXPECT_EQ(merged(), (Names{"0", "key:303", "3", "middle:202", "module:101", "7"}));
}

TEST_F(StackMergeTest, WhatWasCalledSinceIsNotThere) {
  python_.frame(kFrames + 3 * size_, other_, kFrames + 2 * size_, 5);
  python_.set_top(thread_, kFrames + 3 * size_);
  EXPECT_EQ(merged(), (Names{"0", "key:303", "3", "middle:202", "module:101", "7"}));
}

TEST_F(StackMergeTest, WhatHasEndedSinceIsThere) {
  learn();
  python_.set_top(thread_, kFrames + size_);
  EXPECT_EQ(merged(), (Names{"0", "key:303", "3", "middle:202", "module:101", "7"}))
      << "its frame lies there still";
}

TEST_F(StackMergeTest, AnotherFunctionAtThePlaceOfOneThatEnded) {
  learn();
  python_.frame(kFrames + 2 * size_, other_, inner_mark(), 5);
  EXPECT_EQ(merged(), (Names{"0", "key:303", "3", "middle:202", "module:101", "7"}))
      << "the instruction tells";
}

TEST_F(StackMergeTest, CallersOfAFunctionThatEndedAreFoundByTheirLinks) {
  learn();
  loops_.erase(loops_.begin());
  roles_[1] = NativeRole::kOther;
  python_.frame(kFrames + 2 * size_, other_, kFrames + size_, 5);
  python_.frame(kFrames + 3 * size_, key_, kFrames + 2 * size_, 6);
  loops_[0].registers.set(kFrameRegister, kFrames + 3 * size_);
  loops_[0].registers.set(kInstructionRegister, python_.instruction(key_, 7));
  python_.set_top(thread_, kFrames + size_);
  EXPECT_EQ(merged(),
            (Names{"0", "1", "2", "3", "key:306", "other:405", "middle:202", "module:101", "7"}));
  // What lay between is overwritten: who called is not known, and nobody takes the place.
  python_.memory.zero(kFrames + 2 * size_, 128);
  EXPECT_EQ(merged(), (Names{"0", "1", "2", "3", "key:306", "middle:202", "module:101", "7"}))
      << "those that run all the time called it, by whatever way";
  before_ = {};
  EXPECT_EQ(merged(), (Names{"0", "1", "2", "3", "key:306", "module:101", "7"}))
      << "of the others it is not known";
}

TEST_F(StackMergeTest, AFrameThatEndsWhereTheOtherBeganIsItsCallers) {
  learn();
  loops_.erase(loops_.begin());
  roles_[1] = NativeRole::kOther;
  loops_[0].registers.set(kFrameRegister, kFrames + 2 * size_);
  loops_[0].registers.set(kInstructionRegister, python_.instruction(key_, 7));
  python_.frame(kFrames + 2 * size_, other_, kFrames + size_, 5);  // called since
  before_ = {};
  EXPECT_EQ(merged(), (Names{"0", "1", "2", "3", "key:306", "middle:202", "module:101", "7"}));
}

TEST_F(StackMergeTest, ACallerThatEndedTooIsKnownFromTheReadingBefore) {
  loops_.erase(loops_.begin());
  roles_[1] = NativeRole::kOther;
  python_.frame(kFrames + 2 * size_, key_, kFrames + size_, 3);
  loops_[0].registers.set(kFrameRegister, kFrames + 2 * size_);
  loops_[0].registers.set(kInstructionRegister, python_.instruction(key_, 7));
  learn();
  python_.memory.zero(kFrames + size_, 2 * size_);
  python_.set_top(thread_, kFrames);
  EXPECT_EQ(merged(), (Names{"0", "1", "2", "3", "key:306", "middle:202", "module:101", "7"}));
  EXPECT_EQ(merged(), (Names{"0", "1", "2", "3", "key:306", "module:101", "7"}))
      << "the reading before did not find it any more";
}

TEST_F(StackMergeTest, AnotherFunctionThatRunsByNowIsNoGuess) {
  python_.frame(kFrames + 2 * size_, other_, inner_mark(), 5);
  EXPECT_EQ(merged(), (Names{"0", "1", "2", "3", "middle:202", "module:101", "7"}))
      << "where the instruction stands is not known yet";
}

TEST_F(StackMergeTest, AnEntryThatCameLaterIsNotThere) {
  loops_.erase(loops_.begin());
  roles_.erase(roles_.begin(), roles_.begin() + 4);
  loops_[0].index = 1;
  EXPECT_EQ(merged(), (Names{"middle:202", "module:101", "3"}));
}

TEST_F(StackMergeTest, ALoopThatIsJustEnteredRunsNothingYet) {
  roles_.erase(roles_.begin());
  for (SampledLoop& one : loops_) one.index--;
  loops_[0].end = loops_[0].begin + 16;
  python_.set_top(thread_, kFrames + size_);
  EXPECT_EQ(merged(), (Names{"1", "2", "middle:202", "module:101", "6"}));
}

TEST_F(StackMergeTest, FramesOfTheRestOfTheStackFollow) {
  roles_.resize(4);
  loops_.resize(1);
  copy_.resize(0x300);
  EXPECT_EQ(merged(false), (Names{"0", "key:303", "3", "middle:202", "module:101"}));
  roles_.resize(1);
  loops_.clear();
  EXPECT_EQ(merged(false), (Names{"0", "middle:202", "module:101"}))
      << "what lies on the copied part and was not met there came later";
}

TEST_F(StackMergeTest, WithoutRegistersOneFollowsTheOther) {
  loops_.pop_back();
  EXPECT_EQ(merged(), (Names{"0", "key:303", "3", "middle:202", "module:101", "7"}));
  loops_.clear();
  EXPECT_EQ(merged(), (Names{"0", "1", "2", "3", "4", "5", "6", "7"}))
      << "the innermost one may be another by now";
}

TEST_F(StackMergeTest, ALoopOfWhichNothingIsKnownStays) {
  python_.set_top(thread_, 0);
  loops_[0].registers = {};
  loops_[1].registers = {};
  EXPECT_EQ(merged(), (Names{"0", "1", "2", "3", "4", "5", "6", "7"}));
}

// Before 3.11 each function of Python has a C function.
TEST(StackMergeOfFrameObjects, EachLoopIsOneFunction) {
  FakePython python(*PythonLayout::of_version(9));
  const std::uint64_t outer = python.code("outer", 10);
  const std::uint64_t inner = python.code("inner", 20);
  python.frame(0x9000, outer, 0, 2);
  python.frame(0x9200, inner, 0x9000, 3);
  const std::uint64_t thread = python.thread(0x9200);
  const std::vector<NativeRole> roles = {NativeRole::kOther, NativeRole::kLoop, NativeRole::kHelper,
                                         NativeRole::kLoop};
  std::vector<SampledLoop> loops(2);
  loops[0].index = 1;
  loops[0].registers.set(kFrameRegister, 0x9200);
  loops[0].registers.set(kInstructionRegister, python.instruction(inner, 6));
  loops[1].index = 3;
  loops[1].registers.set(kFrameRegister, 0x9000);
  loops[1].registers.set(kInstructionRegister, python.instruction(outer, 3));
  LoopPlaces places;
  std::vector<std::uint64_t> tops(20, 0x9200);
  tops.push_back(0x9000);  // by now it has ended
  for (const std::uint64_t top : tops) {
    python.set_top(thread, top);
    const PythonStack live = python.reader.stack(thread);
    StackMerge merge(python.reader, python.codes, places, live);
    const std::vector<MergedFrame> frames = merge.merge({roles, loops, {}, true});
    ASSERT_EQ(frames.size(), 3U);
    EXPECT_EQ(frames[1].code->function, "inner");
    EXPECT_EQ(frames[1].line, 25) << "of the instruction before the next";
    EXPECT_EQ(frames[2].code->function, "outer");
    EXPECT_EQ(frames[2].line, 12);
  }
}

}  // namespace
}  // namespace fathom::sources
