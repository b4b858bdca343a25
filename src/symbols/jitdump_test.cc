// SPDX-License-Identifier: MIT
#include "symbols/jitdump.h"

#include <gtest/gtest.h>
#include <cstring>
#include <string>
#include <vector>

namespace fathom::symbols {
namespace {

// A jitdump file, as a JIT writes it.
class Dump {
 public:
  explicit Dump(std::uint64_t flags = 0, std::uint32_t magic = 0x4a695444) {
    add(magic, std::uint32_t{1}, std::uint32_t{40}, std::uint32_t{62}, std::uint32_t{0},
        std::uint32_t{42}, std::uint64_t{7}, flags);
  }

  Dump& load(std::uint64_t time, std::uint64_t at, std::uint64_t size, std::uint64_t index,
             const std::string& name) {
    Dump body{Empty()};
    body.add(std::uint32_t{42}, std::uint32_t{42}, at, at, size, index);
    body.bytes_ += name + '\0' + std::string(size, '\x90');
    return record(0, time, body);
  }
  Dump& move(std::uint64_t time, std::uint64_t from, std::uint64_t to, std::uint64_t size,
             std::uint64_t index) {
    Dump body{Empty()};
    body.add(std::uint32_t{42}, std::uint32_t{42}, to, from, to, size, index);
    return record(1, time, body);
  }
  struct Line {
    std::uint64_t at;
    std::uint32_t line;
    std::string file;
  };
  Dump& lines(std::uint64_t time, std::uint64_t code, const std::vector<Line>& lines) {
    Dump body{Empty()};
    body.add(code, std::uint64_t{lines.size()});
    for (const Line& line : lines) {
      body.add(line.at, line.line, std::uint32_t{0});
      body.bytes_ += line.file + '\0';
    }
    return record(2, time, body);
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  struct Empty {};
  explicit Dump(Empty) {}
  template <class... Numbers>
  void add(Numbers... numbers) {
    (bytes_.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
  }
  Dump& record(std::uint32_t id, std::uint64_t time, const Dump& body) {
    add(id, static_cast<std::uint32_t>(16 + body.bytes_.size()), time);
    bytes_ += body.bytes_;
    return *this;
  }
  std::string bytes_;
};

TEST(Jitdump, WhichCodeWasThereIsAQuestionOfTime) {
  Dump dump;
  dump.load(100, 0x1000, 0x40, 1, "first").load(200, 0x1000, 0x40, 2, "second");
  const Jitdump read = Jitdump::parse(dump.bytes()).value();
  EXPECT_EQ(read.find(0x1010, 99).function, "");
  EXPECT_EQ(read.find(0x1010, 100).function, "first");
  EXPECT_EQ(read.find(0x1010, 199).function, "first");
  EXPECT_EQ(read.find(0x1010, 200).function, "second");
  EXPECT_EQ(read.find(0x103f, 1 << 20).function, "second");
  EXPECT_EQ(read.find(0x1040, 1 << 20).function, "");
}

TEST(Jitdump, WhatIsOverwrittenInPartIsGone) {
  Dump dump;
  dump.load(100, 0x1000, 0x100, 1, "large").load(200, 0x1080, 0x10, 2, "small");
  const Jitdump read = Jitdump::parse(dump.bytes()).value();
  EXPECT_EQ(read.find(0x1010, 150).function, "large");
  EXPECT_EQ(read.find(0x1010, 250).function, "");
  EXPECT_EQ(read.find(0x1088, 250).function, "small");
  EXPECT_EQ(read.find(0x10a0, 250).function, "");
}

TEST(Jitdump, CodeThatMovesKeepsItsNameAndLines) {
  Dump dump;
  dump.lines(90, 0x1000, {{0x1000, 5, "/a.js"}, {0x1020, 6, "\xff"}})
      .load(100, 0x1000, 0x40, 1, "f")
      .move(200, 0x1000, 0x5000, 0x40, 1)
      .load(300, 0x1000, 0x40, 2, "g");
  const Jitdump read = Jitdump::parse(dump.bytes()).value();
  EXPECT_EQ(read.find(0x1024, 150).line, 6);
  EXPECT_EQ(read.find(0x1024, 250).function, "");
  const Jitdump::Found moved = read.find(0x5024, 250);
  EXPECT_EQ(moved.function, "f");
  EXPECT_EQ(moved.file, "/a.js");
  EXPECT_EQ(moved.line, 6);
  EXPECT_EQ(read.find(0x5004, 250).line, 5);
  EXPECT_EQ(read.find(0x1004, 350).function, "g");
  EXPECT_EQ(read.find(0x1004, 350).line, 0);
}

TEST(Jitdump, OneThatWasCutCountsAsFarAsItGoes) {
  Dump dump;
  dump.load(100, 0x1000, 0x40, 1, "first");
  const std::size_t whole = dump.bytes().size();
  dump.load(200, 0x2000, 0x40, 2, "second");
  for (std::size_t size = whole; size < dump.bytes().size(); ++size) {
    const Jitdump read = Jitdump::parse(dump.bytes().substr(0, size)).value();
    EXPECT_EQ(read.find(0x1000, 300).function, "first");
    EXPECT_EQ(read.find(0x2000, 300).function, "");
  }
  for (std::size_t size = 0; size < 40; ++size)
    EXPECT_FALSE(Jitdump::parse(dump.bytes().substr(0, size)));
}

TEST(Jitdump, OfAnotherClockOrByteOrderIsSaid) {
  EXPECT_EQ(Jitdump::parse(Dump(1).bytes()).error().code, Code::kUnsupported);
  EXPECT_EQ(Jitdump::parse(Dump(0, 0x4454694a).bytes()).error().code, Code::kUnsupported);
  EXPECT_EQ(Jitdump::parse("no such file").error().code, Code::kCorrupt);
}

// What a JIT has not written yet may say otherwise for times behind its last record.
TEST(Jitdump, TellsHowFarItGoes) {
  Dump dump;
  EXPECT_EQ(Jitdump::parse(dump.bytes()).value().last_time(), 0U);
  dump.load(100, 0x1000, 0x40, 1, "f");
  dump.load(200, 0x2000, 0x40, 2, "g");
  EXPECT_EQ(Jitdump::parse(dump.bytes()).value().last_time(), 200U);
}

}  // namespace
}  // namespace fathom::symbols
