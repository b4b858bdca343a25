// SPDX-License-Identifier: MIT
#include "sources/perf/python/frame_reader.h"

#include <gtest/gtest.h>

#include "sources/perf/python/testing/fake_python.h"

namespace fathom::sources {
namespace {

using testing::FakePython;

PythonLayout layout_of(int minor) {
  if (minor < 13) return *PythonLayout::of_version(minor);
  PythonLayout layout = *PythonLayout::of_version(12);  // the places do not matter, the ways do
  layout.minor = minor;
  layout.top_in_record = PythonLayout::kNone;
  return layout;
}

std::vector<std::string> names(const PythonStack& stack) {
  std::vector<std::string> found;
  for (const PythonFrame& frame : stack.frames)
    found.push_back(frame.code->function + ":" +
                    std::to_string(frame.code->line(frame.instruction)));
  return found;
}

TEST(CodeObjects, TellFunctionFileAndLines) {
  for (const int minor : {8, 9, 10, 11, 12}) {
    FakePython python(layout_of(minor));
    const std::uint64_t address = python.code("drift", 40);
    const CodePointer code = python.codes.at(address);
    ASSERT_TRUE(code) << minor;
    EXPECT_EQ(code->function, "drift");
    EXPECT_EQ(code->file, "/home/drift.py");
    EXPECT_EQ(code->end - code->begin, 2 * FakePython::kUnits);
    EXPECT_EQ(code->line(code->begin), 40) << minor;
    EXPECT_EQ(code->line(code->begin + 10), 45) << minor;
    EXPECT_EQ(code->line(code->begin - 2), 40) << "outside: the function's";
    EXPECT_EQ(code->line(code->end), 40);
    EXPECT_EQ(code->frame_bytes, minor >= 11 ? 72 + 80 : 0);
  }
}

TEST(CodeObjects, AreReadOnceUnlessAnotherIsPutThere) {
  FakePython python(layout_of(12));
  const std::uint64_t address = python.code("one");
  const CodePointer first = python.codes.at(address);
  EXPECT_EQ(python.codes.at(address), first);
  python.memory.put(address + python.layout.name, python.ascii("two"));
  python.codes.forget();
  EXPECT_EQ(python.codes.at(address)->function, "two");
  EXPECT_EQ(first->function, "one") << "who has it keeps it";
}

TEST(CodeObjects, AreFoundByAnInstruction) {
  FakePython python(layout_of(12));
  const CodePointer one = python.codes.at(python.code("one"));
  const CodePointer two = python.codes.at(python.code("two"));
  EXPECT_EQ(python.codes.with_instruction(one->begin + 6), one);
  EXPECT_EQ(python.codes.with_instruction(two->end), two) << "behind its last";
  EXPECT_EQ(python.codes.with_instruction(two->end + 2), nullptr);
  EXPECT_EQ(python.codes.with_instruction(one->begin - 2), nullptr);
}

TEST(CodeObjects, MustBeCodeObjects) {
  FakePython python(layout_of(12));
  const std::uint64_t address = python.code("one");
  python.memory.put(address + python.layout.type, FakePython::kCodeType + 8);
  EXPECT_EQ(python.codes.at(address), nullptr);
  EXPECT_EQ(python.codes.at(0x77), nullptr) << "nothing is there";
  const std::uint64_t huge = python.code("huge");
  python.memory.put(huge + python.layout.size, ~std::uint64_t{0} / 2);
  EXPECT_EQ(python.codes.at(huge), nullptr);
  const std::uint64_t nameless = python.code("nameless");
  const std::uint64_t name = python.ascii("x");
  python.memory.put(name + python.layout.text_length, std::uint64_t{1} << 40U);
  python.memory.put(nameless + python.layout.name, name);
  EXPECT_EQ(python.codes.at(nameless), nullptr) << "no text is that long";
}

TEST(CodeObjects, NamesMayHaveAnyLetters) {
  FakePython python(layout_of(12));
  const std::uint64_t address = python.code("one");
  const auto named = [&](std::uint32_t kind, const auto& points) {
    const std::uint64_t text = python.take(256);
    python.memory.put(text + python.layout.text_length, std::uint64_t{std::size(points)});
    python.memory.put(text + python.layout.text_state, (kind << 2U) | (1U << 5U));
    for (std::size_t i = 0; i < std::size(points); i++)
      python.memory.put(text + python.layout.other_text + i * kind, points[i]);
    python.memory.put(address + python.layout.name, text);
    python.codes.forget();
    const CodePointer code = python.codes.at(address);
    return code ? code->function : "";
  };
  EXPECT_EQ(named(1, std::vector<std::uint8_t>{'g', 0xfc}), "g\xc3\xbc");
  EXPECT_EQ(named(2, std::vector<std::uint16_t>{0x6f22, 'x'}), "\xe6\xbc\xa2x");
  EXPECT_EQ(named(4, std::vector<std::uint32_t>{0x1d54f}), "\xf0\x9d\x95\x8f");
  EXPECT_EQ(named(2, std::vector<std::uint16_t>{0xd800}), "\xef\xbf\xbd") << "half of a letter";
}

TEST(FrameReader, FollowsFrameObjects) {
  FakePython python(layout_of(9));
  python.frame(0x9000, python.code("outer", 10), 0, 2);
  python.frame(0x9200, python.code("inner", 20), 0x9000, 3);
  const PythonStack stack = python.reader.stack(python.thread(0x9200));
  EXPECT_EQ(names(stack), (std::vector<std::string>{"inner:23", "outer:12"}));
  EXPECT_TRUE(stack.whole);
  EXPECT_TRUE(stack.frames[0].ends_entry) << "each has a C function of its own";
}

TEST(FrameReader, FindsEntriesByMarks) {
  FakePython python(layout_of(13));
  python.mark(0x7000, 0);
  python.frame(0x9000, python.code("module", 1), 0x7000, 1);
  python.frame(0x9200, python.code("middle", 20), 0x9000, 2);
  python.mark(0x6000, 0x9200);
  python.frame(0x9400, python.code("key", 30), 0x6000, 3);
  const PythonStack stack = python.reader.stack(python.thread(0x9400));
  EXPECT_EQ(names(stack), (std::vector<std::string>{"key:33", "middle:22", "module:2"}));
  EXPECT_TRUE(stack.whole);
  EXPECT_EQ(stack.frames[0].anchor, 0x6000U);
  EXPECT_FALSE(stack.frames[1].ends_entry);
  EXPECT_EQ(stack.frames[2].anchor, 0x7000U);
}

TEST(FrameReader, FindsEntriesByRecords) {
  FakePython python(layout_of(11));
  python.frame(0x9000, python.code("module", 1), 0, 1);
  python.frame(0x9200, python.code("key", 30), 0x9000, 3);
  python.memory.put(0x9000 + python.layout.is_entry, std::uint8_t{1});
  python.memory.put(0x9200 + python.layout.is_entry, std::uint8_t{1});
  python.memory.zero(0x6000, 64);
  python.memory.zero(0x7000, 64);
  python.memory.put(0x6000 + python.layout.top_in_record, std::uint64_t{0x9200});
  python.memory.put(0x6000 + python.layout.outer_record, std::uint64_t{0x7000});
  const std::uint64_t thread = python.thread(0);
  python.memory.put(thread + python.layout.top, std::uint64_t{0x6000});
  const PythonStack stack = python.reader.stack(thread);
  ASSERT_EQ(stack.frames.size(), 2U);
  EXPECT_EQ(stack.frames[0].anchor, 0x6000U);
  EXPECT_EQ(stack.frames[1].anchor, 0x7000U);
  EXPECT_TRUE(stack.whole);
}

TEST(FrameReader, AStackThatChangesIsNotWhole) {
  FakePython python(layout_of(13));
  python.frame(0x9200, python.code("ended", 20), 0, 2);
  EXPECT_FALSE(python.reader.stack(python.thread(0x9200)).whole) << "it lost its caller";
  python.frame(0x9400, python.code("circle", 20), 0x9600, 2);
  python.frame(0x9600, python.code("round", 20), 0x9400, 2);
  EXPECT_FALSE(python.reader.stack(python.thread(0x9400)).whole) << "in a circle";
  python.frame(0x9800, python.code("inner", 20), 0xdead, 2);
  const PythonStack stack = python.reader.stack(python.thread(0x9800));
  EXPECT_FALSE(stack.whole) << "the caller is gone";
  EXPECT_EQ(stack.frames.size(), 1U);
  EXPECT_TRUE(python.reader.stack(python.thread(0)).frames.empty()) << "runs no Python";
}

TEST(FrameReader, ListsThreads) {
  FakePython python(layout_of(12));
  const std::uint64_t one = python.thread(0, 71);
  const std::uint64_t two = python.thread(0, 72);
  const std::vector<PythonThread> threads = python.reader.threads(FakePython::kRuntime);
  ASSERT_EQ(threads.size(), 2U);
  EXPECT_EQ(threads[0].address, two);
  EXPECT_EQ(threads[0].native_id, 72U);
  EXPECT_EQ(threads[1].address, one);
  python.memory.put(one + python.layout.interpreter_of_thread, std::uint64_t{0x1234});
  EXPECT_EQ(python.reader.threads(FakePython::kRuntime).size(), 1U) << "of nobody that is known";
}

}  // namespace
}  // namespace fathom::sources
