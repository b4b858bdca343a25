// SPDX-License-Identifier: MIT
#include "convert/dftracer_files.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>
#include <vector>

#include "base/files.h"
#include "base/text.h"

namespace fathom::convert {
namespace {

using session::StreamProcess;

class DftracerFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = ::testing::TempDir() + "dftracer-files-XXXXXX";
    ASSERT_NE(mkdtemp(directory_.data()), nullptr);
  }
  void TearDown() override { ASSERT_TRUE(remove_tree(directory_)); }

  // Another collector of the same run. The one before was killed if it is gone by then.
  [[nodiscard]] std::unique_ptr<session::RowConsumer> collector() const {
    return dftracer_files(directory_ + "/state", 1'000'000'000, [&](const StreamProcess& process) {
      return DropInPlace{.log = directory_ + "/" + std::to_string(process.pid)};
    });
  }

  static StreamProcess process(std::int64_t pid) {
    StreamProcess one;
    one.key = static_cast<std::uint64_t>(pid);
    one.pid = pid;
    one.host = "vm";
    one.command = "prog";
    one.settings = "generation=2\ncompression=0\nmetadata=1\n";
    one.drop_in = "dftracer";
    return one;
  }

  // A call that ends at `end_us`.
  void take(session::RowConsumer& files, std::int64_t pid, std::int64_t end_us) {
    trace::EventBatch events;
    trace::EventRow row;
    row.ts = 1000 * (end_us - 2);
    row.dur = 2000;
    row.pid = row.tid = static_cast<std::int32_t>(pid);
    row.layer = strings_.code("posix");
    row.name = strings_.code("close");
    row.file = strings_.code("/data/x");
    events.push(row);
    ASSERT_TRUE(files.take(process(pid), events, {0}, strings_));
  }

  // `"id":N` of all lines of a process's file, and what stands behind `key` in the last of them.
  [[nodiscard]] std::vector<std::string> values(std::int64_t pid, const std::string& key) const {
    std::vector<std::string> found;
    const Result<std::vector<std::string>> names = list_dir(directory_);
    for (const std::string& name : *names) {
      if (!name.starts_with(std::to_string(pid) + "-")) continue;
      const std::string text = read_file(join_path(directory_, name)).value();
      for (std::size_t at = 0; (at = text.find("\"" + key + "\":", at)) != std::string::npos;) {
        at += key.size() + 3;
        found.push_back(text.substr(at, text.find_first_of(",}", at) - at));
      }
    }
    return found;
  }

  std::string directory_;
  trace::Strings strings_;
};

using Words = std::vector<std::string>;

TEST_F(DftracerFilesTest, ASuccessorGoesOnCounting) {
  const auto first = collector();
  take(*first, 7, 100);
  ASSERT_TRUE(first->settle(0, ""));
  take(*first, 7, 200);  // not settled: whoever comes next brings it again
  const auto second = collector();
  EXPECT_EQ(second->first_log(), 1U);
  take(*second, 7, 150);
  ASSERT_TRUE(second->complete(process(7), true));
  EXPECT_EQ(values(7, "id"), (Words{"1", "2", "3", "4"}));
  EXPECT_EQ(values(7, "num_events"), Words{"3"});
}

TEST_F(DftracerFilesTest, TheEndIsToldByASuccessorThatHadNothingToAdd) {
  const auto first = collector();
  take(*first, 7, 100);
  ASSERT_TRUE(first->settle(0, ""));
  ASSERT_TRUE(first->complete(process(7), true));  // and killed before the next log was settled
  const auto second = collector();
  ASSERT_TRUE(second->complete(process(7), true));
  EXPECT_EQ(values(7, "id"), (Words{"1", "2", "3"}));
  EXPECT_EQ(values(7, "ts").back(), "1000100");
}

TEST_F(DftracerFilesTest, WhatOneSuccessorDidNotTouchTheNextStillKnows) {
  const auto first = collector();
  take(*first, 7, 100);
  take(*first, 8, 100);
  ASSERT_TRUE(first->settle(0, ""));
  const auto second = collector();
  take(*second, 8, 200);
  ASSERT_TRUE(second->settle(1, ""));
  const auto third = collector();
  take(*third, 7, 300);
  ASSERT_TRUE(third->complete(process(7), true));
  EXPECT_EQ(values(7, "id"), (Words{"1", "2", "3", "4"}));
}

TEST_F(DftracerFilesTest, LinesOfOlderCollectorsAndOfNobody) {
  const std::string kept = directory_ + "/kept";
  const std::string state = directory_ + "/state";
  ASSERT_TRUE(write_file_atomic(kept, "0123456789"));
  ASSERT_TRUE(write_file_atomic(state, "3\n4 " + kept + "\n" + kept + "\n\n", 0600));
  const auto files = collector();
  EXPECT_EQ(files->first_log(), 3U);
  EXPECT_EQ(read_file(kept).value(), "0123");
  ASSERT_TRUE(files->settle(3, ""));
  EXPECT_EQ(read_file(state).value(), "4\n4 0 0 0 " + kept + "\n");
}

}  // namespace
}  // namespace fathom::convert
