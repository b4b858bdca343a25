// SPDX-License-Identifier: MIT
// Every column of every kind of row arrives at exporters.
#include "convert/store_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "analysis/import/text_recording.h"
#include "base/files.h"

namespace fathom::convert {
namespace {

using Words = std::vector<std::string>;

// What one row has to say, with spaces between; "-" for a number that is not there.
class Line {
 public:
  Line& operator<<(std::int64_t number) { return *this << std::to_string(number); }
  Line& operator<<(render::ExportNumber number) {
    return *this << (number ? std::to_string(*number) : "-");
  }
  Line& operator<<(std::string_view text) {
    text_ += (text_.empty() ? "" : " ") + std::string(text);
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class StoreStreamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "store-stream-XXXXXX";
    ASSERT_NE(mkdtemp(root_.data()), nullptr);
  }
  void TearDown() override { ASSERT_TRUE(remove_tree(root_)); }

  analysis::Store opened(const std::string& lines) {
    const std::string path = join_path(root_, "t.fathom");
    const auto rows = analysis::write_text_recording(
        "fathom recording 1\nrun host=h start=5000 duration=1000 command=\"a b\"\n" + lines, path);
    EXPECT_TRUE(rows.has_value()) << rows.error().message;
    return analysis::Store::open(path).value();
  }

  std::string root_;
};

TEST_F(StoreStreamTest, ProcessesThreadsAndCountersAreWhole) {
  analysis::Store store = opened(
      "process 7 name=p command=\"p -x\" ppid=3 rank=2 start=0 end=9\n"
      "thread 7/8 name=t start=0 end=9\ncounter 7/8 5 resource rss 3 unit=bytes\n");
  StoreStream stream(store, {});
  EXPECT_EQ(stream.start_realtime_ns(), 5000);
  Words got;
  ASSERT_TRUE(stream.processes([&](const render::ExportProcess& row) -> Status {
    got.push_back(
        (Line() << row.host << row.pid << row.ppid << row.rank << row.name << row.command).text());
    return {};
  }));
  ASSERT_TRUE(stream.threads([&](const render::ExportThread& row) -> Status {
    got.push_back((Line() << row.host << row.pid << row.tid << row.name).text());
    return {};
  }));
  ASSERT_TRUE(stream.counters([&](const render::ExportCounter& row) -> Status {
    got.push_back((Line() << row.ts << row.host << row.pid << row.tid << row.layer << row.name
                          << row.unit << static_cast<std::int64_t>(row.value))
                      .text());
    return {};
  }));
  EXPECT_EQ(got, (Words{"h 7 3 2 p p -x", "h 7 8 t", "5 h 7 8 resource rss bytes 3"}));
}

TEST_F(StoreStreamTest, IntervalsAreWholeOrSummedByName) {
  analysis::Store store = opened(
      "interval 7/8 10 +100 syscall read calls=4 errors=1 dur=30 dur_min=2 dur_max=9 bytes=50 "
      "file=/x\n"
      "interval 7/9 10 +100 syscall read calls=1 errors=0 dur=5 dur_min=1 dur_max=5 bytes=6 "
      "file=/y\n");
  StoreStream stream(store, {});
  Words got;
  const auto note = [&](const render::ExportInterval& row) -> Status {
    got.push_back((Line() << row.ts << row.width << row.host << row.pid << row.tid << row.layer
                          << row.name << "file=" + std::string(row.file) << row.calls << row.errors
                          << row.dur << row.dur_min << row.dur_max << row.bytes)
                      .text());
    return {};
  };
  ASSERT_TRUE(stream.intervals(render::IntervalDetail::kAll, note));
  std::ranges::sort(got);
  EXPECT_EQ(got, (Words{"10 100 h 7 8 syscall read file=/x 4 1 30 2 9 50",
                        "10 100 h 7 9 syscall read file=/y 1 0 5 1 5 6"}));
  got.clear();
  ASSERT_TRUE(stream.intervals(render::IntervalDetail::kByName, note));
  EXPECT_EQ(got, Words{"10 100 h 7 - syscall read file= 5 1 35 1 9 56"});
}

TEST_F(StoreStreamTest, SamplesHaveTheFramesOfTheirStack) {
  analysis::Store store = opened(
      "sample 7/8 20 cycles weight=3 cpu=1 stack=main!prog@a.c:4;inner!lib.so@b.c:9\n"
      "sample 7/8 30 cycles stack=main!prog@a.c:4;other\nsample 7/8 40 cycles\n");
  StoreStream stream(store, {});
  Words got;
  ASSERT_TRUE(stream.samples([&](const render::ExportSample& row) -> Status {
    Line line;
    line << row.ts << row.host << row.pid << row.tid << row.cpu << row.event << row.weight;
    for (const render::ExportFrame& frame : row.frames)
      line << "|" << frame.function << frame.module << frame.file << frame.line;
    got.push_back(line.text());
    return {};
  }));
  EXPECT_EQ(got,
            (Words{"20 h 7 8 1 cycles 3 | main prog a.c 4 | inner lib.so b.c 9",
                   "30 h 7 8 - cycles 1 | main prog a.c 4 | other   -", "40 h 7 8 - cycles 1"}));
}

}  // namespace
}  // namespace fathom::convert
