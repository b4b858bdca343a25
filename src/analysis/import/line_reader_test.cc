// SPDX-License-Identifier: MIT
#include "analysis/import/line_reader.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <vector>

namespace fathom::analysis {
namespace {

// One gzip member.
std::string packed(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

struct Read {
  std::vector<std::string> lines;
  std::int64_t damage = 0;
  std::int64_t too_long = 0;
};

Read read_all(std::string_view content) {
  LineReader reader = LineReader::of(content);
  Read result;
  while (true) {
    Result<std::optional<std::string_view>> line = reader.next();
    EXPECT_TRUE(line.has_value());
    if (!line || !*line) break;
    result.lines.emplace_back(**line);
  }
  result.damage = reader.damage();
  result.too_long = reader.too_long();
  return result;
}

// Text that compresses badly, so that a cut costs little of it.
std::string numbered(int from, int to) {
  std::string text;
  unsigned random = 1;
  for (int i = from; i < to; ++i) {
    random = random * 1664525 + 1013904223;
    text += std::to_string(i) + ":" + std::to_string(random) + "\n";
  }
  return text;
}

TEST(LineReader, PlainText) {
  const Read read = read_all("a\n\nb\r\nlast");
  EXPECT_EQ(read.lines, (std::vector<std::string>{"a", "", "b\r", "last"}));
  EXPECT_EQ(read.damage, 0);
  EXPECT_TRUE(read_all("").lines.empty());
}

TEST(LineReader, LinesLongerThanTheBuffer) {
  const std::string line(3 << 20, 'x');
  const Read read = read_all(line + "\ny\n");
  ASSERT_EQ(read.lines.size(), 2U);
  EXPECT_EQ(read.lines[0], line);
  EXPECT_EQ(read.lines[1], "y");
}

TEST(LineReader, ALineThatIsTooLongIsCountedOnceAndLeavesNothing) {
  for (const std::size_t size : {LineReader::kMaxLine + 1, 3 * LineReader::kMaxLine}) {
    const std::string line(size, 'x');
    const Read read = read_all("before\n" + line + "\nbehind\n");
    ASSERT_EQ(read.lines.size(), 2U);
    EXPECT_EQ(read.lines[1], "behind");
    EXPECT_EQ(read.damage, 0);
    EXPECT_EQ(read.too_long, 1);
    const Read last = read_all("before\n" + line);
    EXPECT_EQ(last.lines.size(), 1U);
    EXPECT_EQ(last.too_long, 1);
  }
}

TEST(LineReader, MembersBehindEachOther) {
  const Read read = read_all(packed("a\nb") + packed("c\nd\n") + std::string(100, '\0'));
  EXPECT_EQ(read.lines, (std::vector<std::string>{"a", "bc", "d"}));
  EXPECT_EQ(read.damage, 0);
}

TEST(LineReader, CutGzipGivesWhatIsSound) {
  const std::string whole = packed(numbered(0, 1000));
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    const Read read = read_all(std::string_view(whole).substr(0, size));
    if (size < 3) continue;  // not yet known for gzip
    EXPECT_EQ(read.damage, 1) << size;
    for (std::size_t i = 0; i + 1 < read.lines.size(); ++i) {
      EXPECT_EQ(read.lines[i].substr(0, read.lines[i].find(':')), std::to_string(i));
    }
  }
  const Read most = read_all(std::string_view(whole).substr(0, whole.size() - 9));
  EXPECT_GE(most.lines.size(), 999U);
}

TEST(LineReader, GoesOnBehindADamagedMember) {
  std::string first = packed(numbered(0, 1000));
  for (std::size_t i = 0; i < 40; ++i) first[first.size() / 2 + i] = '\xff';
  const Read read = read_all(first + packed(numbered(1000, 1010)));
  EXPECT_GE(read.damage, 1);
  ASSERT_GE(read.lines.size(), 10U);
  // The half line before the gap is not glued to the first one behind it.
  EXPECT_EQ(read.lines[read.lines.size() - 10].substr(0, 5), "1000:");
}

TEST(LineReader, NoSuchFile) {
  const Result<LineReader> reader = LineReader::open("/nowhere/x.pfw");
  ASSERT_FALSE(reader.has_value());
  EXPECT_NE(reader.error().message.find("/nowhere/x.pfw"), std::string::npos);
}

}  // namespace
}  // namespace fathom::analysis
