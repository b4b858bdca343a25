// SPDX-License-Identifier: MIT
// Which stacks count as cut. Stacks are made by hand: code without call frame information, so that
// frame pointers lead from one function to the next.
#include "sources/perf/stack_frames.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "sources/perf/code_maps.h"
#include "symbols/unwind/registers.h"

namespace fathom::sources {
namespace {

using Names = std::vector<std::string>;

constexpr std::int32_t kPid = 10;
constexpr std::uint64_t kCode = 0x1000;
constexpr std::uint64_t kStack = 0x7000;

// Where perf puts them among those that were asked for.
#if defined(__x86_64__)
constexpr std::size_t kFramePointer = 6, kStackPointer = 7, kInstruction = 8, kRegisters = 17;
#else
constexpr std::size_t kFramePointer = 29, kStackPointer = 31, kInstruction = 32, kRegisters = 33;
#endif

// How many addresses the kernel walks at most.
std::size_t longest_chain() {
  const Result<std::string> text = read_file("/proc/sys/kernel/perf_event_max_stack");
  return text ? static_cast<std::size_t>(parse_int(trim(*text)).value()) : 127;
}

// A sample, and the words that it looks at.
struct Taken {
  std::vector<std::uint64_t> chain;
  std::vector<std::uint64_t> registers;
  std::vector<std::uint64_t> stack;
  bool stack_ends = false;
};

class StackFramesTest : public ::testing::Test {
 protected:
  StackFramesTest() {
    maps_.mapped(kPid, {kCode, 0x1000, 0, maps_.module("/nowhere/program", "")});
  }

  // Each function was called by the next; the last word of the copy is the last one's caller, and
  // what that one's frame pointer leads to was not copied.
  static Taken by_pointers(std::size_t calls) {
    Taken taken;
    for (std::size_t i = 1; i <= calls; ++i) {
      taken.stack.push_back(kStack + i * 16);
      taken.stack.push_back(kCode + 0x10);
    }
    taken.registers.resize(kRegisters);
    taken.registers[kFramePointer] = taken.registers[kStackPointer] = kStack;
    taken.registers[kInstruction] = kCode + 4;
    return taken;
  }
  static std::vector<std::uint64_t> chain_of(std::size_t addresses, std::uint64_t outermost) {
    std::vector<std::uint64_t> chain = {PERF_CONTEXT_USER};
    chain.resize(addresses, kCode + 0x10);
    chain.push_back(outermost);
    return chain;
  }

  std::int64_t take(const Taken& taken, std::int32_t pid = kPid) {
    perf::SampleId id;
    id.pid = id.tid = static_cast<std::uint32_t>(pid);
    perf::Sample sample;
    sample.callchain = perf::Words(std::as_bytes(std::span(taken.chain)));
    sample.registers = perf::Words(std::as_bytes(std::span(taken.registers)));
    sample.registers_abi = taken.registers.empty() ? 0 : PERF_SAMPLE_REGS_ABI_64;
    sample.stack = std::as_bytes(std::span(taken.stack));
    sample.stack_ends = taken.stack_ends;
    return frames_.stack(id, sample);
  }
  // Of what was told since the last time; places as offsets in their file.
  Names told() {
    Names names;
    for (const trace::FrameRow& row : frames_.take_new().rows) {
      const trace::Frame& frame = row.frame;
      names.push_back(frame.is_place() ? std::to_string(frame.offset)
                                       : std::string(strings_.view(frame.function)));
    }
    return names;
  }

  ProcessMaps maps_;
  trace::Strings strings_;
  StackFrames frames_{maps_, strings_, {}};
};

TEST_F(StackFramesTest, ACopyThatEndsBeforeTheStackIsCut) {
  take(by_pointers(2));
  EXPECT_EQ(told(), (Names{"15", "15", "4"})) << "the callers' calls, and where it was";
  EXPECT_EQ(frames_.take_cut(), 1U);
  EXPECT_EQ(frames_.take_cut(), 0U) << "counted once";
}

TEST_F(StackFramesTest, EachCutStackCountsAlsoWhereItIsKnown) {
  const std::int64_t first = take(by_pointers(2));
  EXPECT_EQ(take(by_pointers(2)), first);
  EXPECT_EQ(frames_.take_cut(), 2U);
}

TEST_F(StackFramesTest, BehindTheMemoryOfAStackThereIsNobody) {
  Taken taken = by_pointers(2);
  taken.stack_ends = true;
  take(taken);
  EXPECT_EQ(told().size(), 3U);
  EXPECT_EQ(frames_.take_cut(), 0U);
}

TEST_F(StackFramesTest, AStackThatLeadsNowhereIsNotCut) {
  Taken taken = by_pointers(2);
  taken.stack[2] = 0;  // the outermost function's frame pointer
  take(taken);
  EXPECT_EQ(told().size(), 3U);
  EXPECT_EQ(frames_.take_cut(), 0U);
}

TEST_F(StackFramesTest, MoreCallsThanAreFollowedAreCut) {
  take(by_pointers(symbols::kMostUnwound + 8));
  EXPECT_EQ(told().size(), symbols::kMostUnwound);
  EXPECT_EQ(frames_.take_cut(), 1U);
}

TEST_F(StackFramesTest, AStackOfWhichNothingCouldBeCopiedSaysSo) {
  Taken taken = by_pointers(0);
  take(taken);
  EXPECT_EQ(told(), (Names{"[unreadable stack]", "4"}));
  EXPECT_EQ(frames_.take_cut(), 0U) << "it is told in the stack itself";
}

TEST_F(StackFramesTest, AChainAsLongAsTheKernelWalksIsCut) {
  Taken taken;
  taken.stack = {0};
  taken.chain = chain_of(longest_chain(), kCode + 0x20);
  take(taken);
  EXPECT_EQ(told().size(), longest_chain());
  EXPECT_EQ(frames_.take_cut(), 1U);
}

TEST_F(StackFramesTest, AShorterOneIsNot) {
  Taken taken;
  taken.stack = {0};
  taken.chain = chain_of(longest_chain() - 1, kCode + 0x20);
  take(taken);
  EXPECT_EQ(told().size(), longest_chain() - 1);
  EXPECT_EQ(frames_.take_cut(), 0U);
}

TEST_F(StackFramesTest, NorIsOneThatWentAstray) {
  Taken taken;
  taken.stack = {0};
  taken.chain = chain_of(longest_chain(), 0x9999);
  take(taken);
  EXPECT_EQ(told().size(), longest_chain() - 1) << "what is no code called nobody";
  EXPECT_EQ(frames_.take_cut(), 0U);
}

// This program is mapped as it is: its file says that nobody called `_start`.
TEST_F(StackFramesTest, NorIsOneThatCameToTheStartOfTheProgram) {
  constexpr std::uint64_t kInside = 8;
  for (const CodeMapping& one : parse_code_maps(read_file("/proc/self/maps").value())) {
    maps_.mapped(kPid, {one.address, one.length, one.offset, maps_.module(one.path, "")});
  }
  maps_.mapped(kPid, {kCode, 0x1000, 0, maps_.module("/nowhere/program", "")});
  Taken taken;
  taken.stack = {0};
  taken.chain = chain_of(longest_chain(), ::getauxval(AT_ENTRY) + kInside);
  take(taken);
  EXPECT_EQ(told().size(), longest_chain());
  EXPECT_EQ(frames_.take_cut(), 0U);
}

TEST_F(StackFramesTest, OfAProcessWhoseCodeNobodyToldOnlyThePlaceItselfIsSure) {
  constexpr std::int32_t kStranger = 11;
  Taken taken = by_pointers(4);
  taken.chain = {PERF_CONTEXT_USER, kCode + 4, kCode + 0x10, kCode + 0x20};
  take(taken, kStranger);
  EXPECT_EQ(told(), Names{"unknown"});
  EXPECT_EQ(frames_.take_cut(), 0U) << "callers were not looked for";
  taken.chain.clear();
  EXPECT_EQ(take(taken, kStranger), trace::kNull);
}

TEST_F(StackFramesTest, ALongChainOfSuchAProcessIsNotCut) {
  constexpr std::int32_t kStranger = 11;
  Taken taken;
  taken.stack = {0};
  taken.chain = chain_of(longest_chain(), kCode + 0x20);
  take(taken, kStranger);
  EXPECT_EQ(told(), Names{"unknown"});
  EXPECT_EQ(frames_.take_cut(), 0U);
}

}  // namespace
}  // namespace fathom::sources
