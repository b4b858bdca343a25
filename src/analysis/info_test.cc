// SPDX-License-Identifier: MIT
#include "analysis/info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "analysis/facts.h"
#include "analysis/import/text_recording.h"
#include "analysis/testing/sample_recording.h"

namespace fathom::analysis {
namespace {

namespace fs = std::filesystem;
using analysis::testing::write_sample;

const Value* member(const Value& value, std::string_view key) {
  for (const auto& [name, cell] : std::get<Object>(value.data)) {
    if (name == key) return &cell;
  }
  return nullptr;
}

class InfoTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "fathom_info_" + std::to_string(getpid());
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  std::string root_;
};

TEST_F(InfoTest, OneObjectTellsStateSizeAndLayers) {
  ASSERT_TRUE(write_sample(root_ + "/a"));
  const Result<Info> info = read_info(root_ + "/a");
  ASSERT_TRUE(info) << info.error().message;
  const Value object = info_object(*info);
  EXPECT_EQ(std::get<std::string>(member(object, "state")->data), "complete");
  EXPECT_EQ(std::get<std::int64_t>(member(object, "events")->data), 103);
  EXPECT_EQ(std::get<std::int64_t>(member(object, "rows")->data), 105);
  EXPECT_GT(std::get<std::int64_t>(member(object, "bytes")->data), 0);
  EXPECT_EQ(std::get<List>(member(object, "command")->data).size(), 2U);
  EXPECT_TRUE(std::get<List>(member(object, "losses")->data).empty());
}

// Samples and counters are rows, too, but no events.
TEST_F(InfoTest, EventsAreTheRowsOfThatTable) {
  const std::string text = std::string(kTextRecordingMark) +
                           "\nrun host=here start=1700000000000000000 duration=1000\n"
                           "process 10 name=work start=0 end=1000 exit=0\n"
                           "thread 10/10 start=0 end=1000\n"
                           "event 10/10 10 +5 posix read category=read\n"
                           "event 10/10 20 +5 posix read category=read\n"
                           "sample 10/10 150 cpu-clock weight=150 stack=main!/bin/work\n";
  ASSERT_TRUE(write_text_recording(text, root_ + "/a"));
  const Result<Info> info = read_info(root_ + "/a");
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(info->events, 2);
  const Value object = info_object(*info);
  EXPECT_EQ(std::get<std::int64_t>(member(object, "events")->data), 2);
  EXPECT_EQ(std::get<std::int64_t>(member(object, "rows")->data), 3);
  const std::vector<Table> tables = info_tables(*info);
  EXPECT_THAT(std::get<std::string>(tables[0].rows.back()[1].data),
              ::testing::StartsWith("2 events, 3 rows, "));
}

TEST_F(InfoTest, DamageMakesItPartialAndIsNamed) {
  ASSERT_TRUE(write_sample(root_ + "/a"));
  for (const auto& entry : fs::directory_iterator(root_ + "/a")) {
    if (entry.path().filename().string().starts_with("events")) fs::resize_file(entry.path(), 10);
  }
  const Result<Info> info = read_info(root_ + "/a");
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(std::get<std::string>(member(info_object(*info), "state")->data), "partial");
  const std::vector<Table> tables = info_tables(*info);
  EXPECT_EQ(tables.back().title, "Damaged files");
}

TEST_F(InfoTest, SeveralRecordingsAreListed) {
  ASSERT_TRUE(write_sample(root_ + "/a"));
  ASSERT_TRUE(write_sample(root_ + "/b", {.lost = 3}));
  const Result<Info> info = read_info(root_);
  ASSERT_TRUE(info) << info.error().message;
  const Value object = info_object(*info);
  EXPECT_EQ(std::get<List>(member(object, "recordings")->data).size(), 2U);
  EXPECT_EQ(std::get<List>(member(object, "losses")->data).size(), 1U);
}

// JSON keeps facts as they are.
TEST_F(InfoTest, FactsHaveUnits) {
  ASSERT_TRUE(write_sample(root_ + "/a"));
  Result<Info> info = read_info(root_ + "/a");
  ASSERT_TRUE(info) << info.error().message;
  info->parts[0].manifest.facts = {{"kernel:io", "867690 819306"},
                                   {"kernel.syscall.added_ns", "1510"},
                                   {"kernel.user.odd_ns", "some"},
                                   {"kernel.hooks", "raw tracepoints"}};
  const auto shown = [&] {
    std::map<std::string, std::string> rows;
    const std::vector<Table> tables = info_tables(*info);
    for (const auto& row : tables[0].rows)
      rows[std::get<std::string>(row[0].data)] = std::get<std::string>(row[1].data);
    return rows;
  };
  std::map<std::string, std::string> rows = shown();
  EXPECT_EQ(rows["I/O by the kernel's count"], "847 KiB read, 800 KiB written");
  EXPECT_EQ(rows["kernel.syscall.added"], "1.51 us");
  EXPECT_EQ(rows["kernel.user.odd_ns"], "some");
  EXPECT_EQ(rows["kernel.hooks"], "raw tracepoints");
  const Value object = info_object(*info);
  EXPECT_EQ(std::get<std::string>(member(*member(object, "facts"), "kernel:io")->data),
            "867690 819306");
  info->parts[0].manifest.facts = {{"kernel:io", "1 x"}, {"_ns", ""}};
  rows = shown();
  EXPECT_EQ(rows["kernel:io"], "1 x");
}

TEST(IsoTimeTest, IsUtcToTheMillisecond) {
  EXPECT_EQ(iso_time(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(iso_time(1'700'000'000'123'456'789), "2023-11-14T22:13:20.123Z");
  EXPECT_EQ(iso_time(-1), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace fathom::analysis
