// SPDX-License-Identifier: MIT
#include "analysis/import/text_recording.h"

#include <gtest/gtest.h>

#include <string>

#include "analysis/import/json_head.h"
#include "analysis/import/text_words.h"
#include "analysis/testing/import_box.h"

namespace fathom::analysis {
namespace {

constexpr char kText[] = R"(fathom recording 1
# comment
run host=here start=5 duration=100 command="a b"
loss posix "too fast" 3
process 7 name=a command="a b" meta.key="x y"
thread 7/8 name="t \x41"
event 7/8 10 +50 app outer args.k="v \"w\""
event 7/8 20 +5 posix read bytes=3 file=/x
event 7/8 22 +3 gpu kernel device=1
interval 7 0 +100 syscall read calls=2 hist=0,2
counter - 1 resource load 0.5 unit=%
sample 7/8 11 cpu-clock weight=9 stack=main!prog@m.c:4;leaf
)";

using TextRecordingTest = testing::ImportBox;

TEST_F(TextRecordingTest, EveryKindOfRow) {
  const Result<std::int64_t> rows = write_text_recording(kText, trace());
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  EXPECT_EQ(*rows, 6);
  expect_one({
      {"events", "name = 'outer' AND depth = 0 AND args['k'] = 'v \"w\"' AND host = 'here'"},
      {"events", "name = 'read' AND depth = 1 AND bytes = 3 AND file = '/x' AND tid = 8"},
      {"events", "name = 'kernel' AND depth IS NULL AND device = 1"},
      {"intervals", "calls = 2 AND hist = [0, 2] AND tid IS NULL AND width = 100"},
      {"counters", "value = 0.5 AND unit = '%' AND pid IS NULL"},
      {"samples", "weight = 9 AND event = 'cpu-clock' AND stack IS NOT NULL"},
      {"frames", "depth = 0 AND function = 'main' AND module = 'prog' AND line = 4"},
      {"frames", "depth = 1 AND function = 'leaf' AND module IS NULL"},
      {"samples JOIN frames USING (stack)", "function = 'leaf'"},
      {"processes", "command = 'a b' AND meta['key'] = 'x y'"},
      {"threads", "name = 't A'"},
      {"losses", "layer = 'posix' AND count = 3"},
      {"layers", "layer = 'cpu' AND events = 1"},
  });
}

TEST(TextRecording, MistakesNameTheirLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"rubbish", "first line"},
      {"fathom recording 1\nfrob 1", "line 2: no line begins with 'frob'"},
      {"fathom recording 1\n\nevent 7/8 1 50 app x", "line 3: a duration is written as +NS"},
      {"fathom recording 1\nevent 7/8 1 +5 app", "line 2: name is missing"},
      {"fathom recording 1\nevent 7/8 1 +5 app x colour=red", "'colour' has no meaning"},
      {"fathom recording 1\nevent 7/8 1 +5 app x fd=99999999999", "fd is out of range"},
      {"fathom recording 1\nevent a/8 1 +5 app x", "'a' is not a pid or tid"},
      {"fathom recording 1\ncounter 7 1 resource x nan", "'nan' is not a number"},
      {"fathom recording 1\nrun command=\"a", "a quote that does not end"},
      {"fathom recording 1\nrun start=1e3", "start: '1e3' is not a whole number"},
  };
  for (const auto& [text, message] : cases) {
    const Status status = check_text_recording(text);
    ASSERT_FALSE(status.has_value()) << text;
    EXPECT_NE(status.error().message.find(message), std::string::npos) << status.error().message;
  }
}

TEST(TextWords, WordsAndPairs) {
  Result<TextWords> words = TextWords::parse("one \"two words\" a=1 b.x=\"=\\n\\\"\" # rest");
  ASSERT_TRUE(words.has_value());
  EXPECT_EQ(words->word("w").value(), "one");
  EXPECT_EQ(words->word("w").value(), "two words");
  EXPECT_FALSE(words->word("w").has_value());
  EXPECT_EQ(words->take_number("a").value(), 1);
  EXPECT_FALSE(words->finish().has_value());
  EXPECT_EQ(words->take_all("b.").at(0), (std::pair<std::string, std::string>("x", "=\n\"")));
  EXPECT_TRUE(words->finish().has_value());
  EXPECT_FALSE(TextWords::parse("a=\"\\x4\"").has_value());
}

TEST(JsonHead, TellsArraysWithAndWithoutCommas) {
  using Kind = JsonHead::Kind;
  EXPECT_EQ(json_head(" {\"a\":1}").kind, Kind::kObject);
  EXPECT_EQ(json_head("hello").kind, Kind::kNone);
  EXPECT_TRUE(json_head("[{\"a\":\"}]\"},\n{}]").comma_after_object);
  EXPECT_FALSE(json_head("[\n{\"a\":{\"b\":[1]}}\n{}]").comma_after_object);
  EXPECT_FALSE(json_head("[\n{\"a\":").comma_after_object);
  EXPECT_TRUE(json_head("{\"ph\":1}").names("ph"));
  EXPECT_FALSE(json_head("{\"phase\":1}").names("ph"));
}

}  // namespace
}  // namespace fathom::analysis
