// SPDX-License-Identifier: MIT
#include "convert/alnair_files.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <memory>
#include <string>

#include "base/files.h"

namespace fathom::convert {
namespace {

using session::StreamProcess;

class AlnairFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = ::testing::TempDir() + "alnair-files-XXXXXX";
    ASSERT_NE(mkdtemp(directory_.data()), nullptr);
    logs_ = directory_ + "/to/logs";
  }
  void TearDown() override { ASSERT_TRUE(remove_tree(directory_)); }

  // Another collector of the same run. The one before was killed if it is gone by then.
  [[nodiscard]] std::unique_ptr<session::RowConsumer> collector() const {
    return alnair_files(directory_ + "/state", 1'000'000,
                        [&](const StreamProcess&) { return DropInPlace{.log = logs_}; });
  }

  static StreamProcess process(std::int64_t pid) {
    StreamProcess one;
    one.key = static_cast<std::uint64_t>(pid) + 100;
    one.pid = pid;
    one.drop_in = "alnair";
    return one;
  }

  // A copy of so many bytes to the device, of 2 us.
  void take(session::RowConsumer& files, std::int64_t pid, std::int64_t bytes,
            const char* layer = "cuda") {
    trace::EventBatch events;
    trace::EventRow row;
    row.ts = 5000;
    row.dur = 2000;
    row.size = bytes;
    row.pid = row.tid = static_cast<std::int32_t>(pid);
    row.layer = strings_.code(layer);
    row.name = strings_.code("cuMemcpyHtoD");
    events.push(row);
    ASSERT_TRUE(files.take(process(pid), events, {0}, strings_));
  }

  [[nodiscard]] std::string log(const std::string& name) const {
    const Result<std::string> text = read_file(logs_ + "/" + name);
    return text ? *text : "none";
  }
  static std::string line(std::int64_t bytes) {
    return "name:cuMemcpyH2D, start:1005000, burst:2, bytes:" + std::to_string(bytes) +
           ", kind:-1\n";
  }
  // How many copies metrics.log has.
  [[nodiscard]] bool counts(const std::string& name, int copies) const {
    const std::string text =
        "name:cuMemcpyH2D,count:" + std::to_string(copies) + ",burst:" + std::to_string(2 * copies);
    return log(name).find(text + "\n") != std::string::npos;
  }

  std::string directory_;
  std::string logs_;
  trace::Strings strings_;
};

TEST_F(AlnairFilesTest, OneProcessHasThePlainNamesInADirectoryThatIsMade) {
  const auto files = collector();
  take(*files, 7, 10);
  EXPECT_EQ(log("timeline.log"), "none");
  ASSERT_TRUE(files->refresh());
  take(*files, 7, 11);
  ASSERT_TRUE(files->complete(process(7), true));
  EXPECT_EQ(log("timeline.log"), line(10) + line(11));
  EXPECT_TRUE(counts("metrics.log", 2));
  EXPECT_EQ(log("timeline-7.log"), "none");
}

TEST_F(AlnairFilesTest, WhoDoesNotUseCudaHasNoLogs) {
  const auto files = collector();
  take(*files, 7, 10, "posix");
  ASSERT_TRUE(files->settle(0, ""));
  EXPECT_FALSE(path_exists(logs_));
}

TEST_F(AlnairFilesTest, WithTheSecondProcessEachHasItsOwnToo) {
  const auto files = collector();
  take(*files, 7, 10);
  ASSERT_TRUE(files->refresh());
  take(*files, 8, 20);
  take(*files, 7, 11);
  ASSERT_TRUE(files->refresh());
  EXPECT_EQ(log("timeline.log"), line(10) + line(20) + line(11));
  EXPECT_EQ(log("timeline-7.log"), line(10) + line(11));
  EXPECT_EQ(log("timeline-8.log"), line(20));
  EXPECT_TRUE(counts("metrics.log", 3));
  EXPECT_TRUE(counts("metrics-7.log", 2));
  EXPECT_TRUE(counts("metrics-8.log", 1));
}

TEST_F(AlnairFilesTest, ASuccessorWritesWhatWasNotSettledOnce) {
  const auto first = collector();
  take(*first, 7, 10);
  take(*first, 8, 20);
  ASSERT_TRUE(first->settle(4, "seen"));
  take(*first, 8, 21);  // not settled: whoever comes next brings it again
  ASSERT_TRUE(first->refresh());
  const auto second = collector();
  EXPECT_EQ(second->first_log(), 5U);
  EXPECT_EQ(second->ahead(), "seen");
  take(*second, 8, 21);
  ASSERT_TRUE(second->refresh());
  EXPECT_EQ(log("timeline.log"), line(10) + line(20) + line(21));
  EXPECT_EQ(log("timeline-7.log"), line(10));
  EXPECT_EQ(log("timeline-8.log"), line(20) + line(21));
  EXPECT_TRUE(counts("metrics.log", 3));
  EXPECT_TRUE(counts("metrics-8.log", 2));
}

}  // namespace
}  // namespace fathom::convert
