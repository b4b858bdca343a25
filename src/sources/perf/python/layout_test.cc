// SPDX-License-Identifier: MIT
#include "sources/perf/python/layout.h"

#include <gtest/gtest.h>

#include "sources/perf/python/testing/fake_python.h"

namespace fathom::sources {
namespace {

using testing::FakeMemory;
constexpr std::uint64_t kRuntime = 0x5000;

// Each number is its own place, so that a wrong place shows.
void say(FakeMemory& memory, std::uint64_t version) {
  for (std::uint64_t i = 0; i < 96; i++) memory.put(kRuntime + i * 8, i);
  memory.put_text(kRuntime, "xdebugpy");
  memory.put(kRuntime + 8, version);
}

TEST(PythonLayout, KnowsVersionsWithoutOffsets) {
  for (const int minor : {8, 9, 10, 11, 12}) {
    const auto layout = PythonLayout::of_version(minor);
    ASSERT_TRUE(layout);
    EXPECT_EQ(layout->minor, minor);
    EXPECT_EQ(layout->marks_entries(), minor >= 11);
  }
  EXPECT_FALSE(PythonLayout::of_version(7));
  EXPECT_FALSE(PythonLayout::of_version(13)) << "that says it itself";
}

TEST(PythonLayout, ReadsWhatPython313Says) {
  FakeMemory memory;
  say(memory, 0x030d00f0);
  const auto layout = PythonLayout::read(memory, kRuntime);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->minor, 13);
  EXPECT_EQ(layout->first_interpreter, 5);
  EXPECT_EQ(layout->first_thread, 9);
  EXPECT_EQ(layout->top, 23);
  EXPECT_EQ(layout->native_id, 25);
  EXPECT_EQ(layout->outer, 29);
  EXPECT_EQ(layout->owner, 33);
  EXPECT_EQ(layout->file, 35);
  EXPECT_EQ(layout->bytecode, 43);
  EXPECT_EQ(layout->type, 45);
  EXPECT_EQ(layout->bytes, 66);
  EXPECT_EQ(layout->ascii_text, 70);
}

TEST(PythonLayout, ReadsWhatPython314Says) {
  FakeMemory memory;
  say(memory, 0x030e00f0);
  const auto layout = PythonLayout::read(memory, kRuntime);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->minor, 14);
  EXPECT_EQ(layout->top, 26);
  EXPECT_EQ(layout->outer, 32);
  EXPECT_EQ(layout->bytecode, 48);
  EXPECT_EQ(layout->type, 51);
  EXPECT_EQ(layout->bytes, 76);
  EXPECT_EQ(layout->ascii_text, 80);
}

TEST(PythonLayout, TrustsNothing) {
  FakeMemory other;
  say(other, 0x030d00f0);
  other.put(kRuntime, char{'y'});
  EXPECT_FALSE(PythonLayout::read(other, kRuntime)) << "not what begins it";
  for (const std::uint64_t version : {0x030c00f0ULL, 0x030f00f0ULL, 0x040d00f0ULL, 0ULL}) {
    FakeMemory memory;
    say(memory, version);
    EXPECT_FALSE(PythonLayout::read(memory, kRuntime)) << version;
  }
  FakeMemory wild;
  say(wild, 0x030d00f0);
  wild.put(kRuntime + 43 * 8, std::uint64_t{1} << 40U);
  EXPECT_FALSE(PythonLayout::read(wild, kRuntime)) << "no structure is that large";
  FakeMemory cut;
  say(cut, 0x030d00f0);
  cut.remove(kRuntime + 500);
  EXPECT_FALSE(PythonLayout::read(cut, kRuntime));
}

}  // namespace
}  // namespace fathom::sources
