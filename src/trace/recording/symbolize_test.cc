// SPDX-License-Identifier: MIT
// Names that come later: which frames get them, and that a recording stays whole.
#include "trace/recording/symbolize.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "trace/recording/parquet_file.h"
#include "trace/recording/parquet_tables.h"
#include "trace/recording/recording.h"
#include "trace/recording/recording_writer.h"
#include "trace/spool/spool.h"
#include "trace/testing/recordings.h"

namespace fathom::trace {
namespace {

using testing::ask;
using testing::TempDir;

constexpr char kModule[] = "/opt/my tools/program";
using Missing = std::map<std::pair<std::string, std::string>, std::int64_t>;

// What lies at which offset of the program; an inlined function follows the one it is in.
NameResolver knowing(std::map<std::uint64_t, std::vector<std::string>> names) {
  NameResolver resolver;
  resolver.frames = [names = std::move(names)](const CodePlace& place) -> NamedPlace {
    const auto found = names.find(place.offset);
    if (place.build_id != "0a1b" || found == names.end()) return {};
    NamedPlace told{.readable = true, .address = place.offset + 0x1000};
    for (const std::string& name : found->second)
      told.frames.push_back({.function = name, .file = "a.c", .line = 3});
    return told;
  };
  return resolver;
}

class SymbolizeTest : public ::testing::Test {
 protected:
  // A sample with four frames. The place at 32 is called by the begin of its function, 31.
  void SetUp() override {
    RecordingWriter writer = RecordingWriter::create(path_, Manifest{}).value();
    Strings& strings = writer.strings();
    const auto place = [&](std::int64_t offset) {
      Frame frame;
      frame.function = strings.code("program+0x" + std::string(offset == 16 ? "10" : "1f"));
      frame.module = strings.code(kModule);
      frame.build_id = strings.code("0a1b");
      frame.offset = offset;
      return frame;
    };
    Frame named = place(48);
    named.function = strings.code("main");
    Frame elsewhere;
    elsewhere.function = strings.code("work");
    elsewhere.module = strings.code("work.py");
    SampleBatch samples;
    SampleRow& sample = samples.rows.emplace_back();
    sample.pid = sample.tid = 7;
    sample.event = strings.code("cpu-clock");
    sample.weight = 100;
    sample.stack =
        writer.stacks().stack(std::vector{named, place(32), elsewhere, place(16)}, strings);
    ASSERT_TRUE(writer.append(samples).has_value());
    ASSERT_TRUE(writer.finish().has_value());
  }
  [[nodiscard]] std::string told(const char* columns) const {
    return ask(Recording::open(path_).value(), kFramesTable, columns);
  }
  [[nodiscard]] std::string functions() const {
    return told("string_agg(\"function\", ' > ' ORDER BY depth)");
  }
  [[nodiscard]] std::string frames_file() const {
    const std::vector<std::string> names = list_dir(path_).value();
    for (const std::string& name : names) {
      const auto parsed = parse_parquet_name(name);
      if (parsed && parsed->table == kFramesTable) return join_path(path_, name);
    }
    return "";
  }

  TempDir directory_;
  const std::string path_ = join_path(directory_.path(), "trace");
};

TEST_F(SymbolizeTest, FramesWithoutANameGetOne) {
  const Symbolized outcome = symbolize(path_, knowing({{16, {"outer", "inner"}}})).value();
  EXPECT_EQ(outcome.named, 1);
  EXPECT_EQ(outcome.unnamed, 1);
  EXPECT_EQ(outcome.missing, (Missing{{{kModule, "0a1b"}, 1}}));
  EXPECT_EQ(functions(), "main > program+0x1f > work > outer > inner");
  EXPECT_EQ(told("string_agg(depth || '@' || coalesce(\"offset\", 0), ',' ORDER BY depth)"),
            "0@48,1@32,2@0,3@16,4@16");
  EXPECT_EQ(told("string_agg(line, ',' ORDER BY depth)"), "3,3");
  EXPECT_EQ(told("max(address)"), "4112");
}

TEST_F(SymbolizeTest, TheRestGetsItsNamesAnotherTime) {
  ASSERT_TRUE(symbolize(path_, knowing({{16, {"inner"}}})).has_value());
  const Symbolized outcome = symbolize(path_, knowing({{16, {"wrong"}}, {32, {"outer"}}})).value();
  EXPECT_EQ(outcome.named, 1) << "what has a name keeps it";
  EXPECT_EQ(outcome.unnamed, 0);
  EXPECT_EQ(functions(), "main > outer > work > inner");
  EXPECT_EQ(symbolize(path_, knowing({})).value().unnamed, 0);
}

TEST_F(SymbolizeTest, AFileThatGainsNothingStaysAsItIs) {
  struct stat before {};
  ASSERT_EQ(::stat(frames_file().c_str(), &before), 0);
  const Symbolized outcome = symbolize(path_, knowing({})).value();
  EXPECT_EQ(outcome.named, 0);
  EXPECT_EQ(outcome.unnamed, 2);
  struct stat after {};
  ASSERT_EQ(::stat(frames_file().c_str(), &after), 0);
  EXPECT_EQ(after.st_ino, before.st_ino);
}

TEST_F(SymbolizeTest, WhoMightReadTheOldFileMayReadTheNewOne) {
  ASSERT_EQ(::chmod(frames_file().c_str(), 0640), 0);
  ASSERT_TRUE(symbolize(path_, knowing({{16, {"inner"}}})).has_value());
  struct stat after {};
  ASSERT_EQ(::stat(frames_file().c_str(), &after), 0);
  EXPECT_EQ(after.st_mode & 0777U, 0640U);
  EXPECT_FALSE(path_exists(frames_file() + ".new"));
}

TEST_F(SymbolizeTest, ADamagedFileIsNotTouched) {
  ASSERT_EQ(::truncate(frames_file().c_str(), 40), 0);
  const Result<Symbolized> outcome = symbolize(path_, knowing({{16, {"inner"}}}));
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, Code::kCorrupt);
  EXPECT_EQ(read_file(frames_file())->size(), 40U);
}

TEST_F(SymbolizeTest, NorIsARecordingThatIsNotPackedYet) {
  ASSERT_TRUE(make_dirs(join_path(path_, kSpoolDirectory)));
  const Result<Symbolized> outcome = symbolize(path_, knowing({{16, {"inner"}}}));
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, Code::kInvalid);
  EXPECT_NE(outcome.error().hint.find("fathom collect"), std::string::npos);
}

TEST_F(SymbolizeTest, SeveralRecordingsAddUp) {
  Symbolized all = symbolize(path_, knowing({{16, {"inner"}}})).value();
  all.add(symbolize(path_, knowing({})).value());
  EXPECT_EQ(all.named, 1);
  EXPECT_EQ(all.unnamed, 2);
  EXPECT_EQ(all.missing, (Missing{{{kModule, "0a1b"}, 2}}));
}

}  // namespace
}  // namespace fathom::trace
