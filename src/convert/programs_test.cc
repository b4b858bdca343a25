// SPDX-License-Identifier: MIT
#include "convert/programs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "analysis/import/text_recording.h"
#include "base/files.h"
#include "convert/store_stream.h"

namespace fathom::convert {
namespace {

class ProgramsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "programs-XXXXXX";
    ASSERT_NE(mkdtemp(root_.data()), nullptr);
  }
  void TearDown() override { ASSERT_TRUE(remove_tree(root_)); }

  analysis::Store opened(const std::string& lines) {
    const std::string path = join_path(root_, "t.fathom");
    const auto rows = analysis::write_text_recording(
        "fathom recording 1\nrun host=h duration=1000\n" + lines, path);
    EXPECT_TRUE(rows.has_value()) << rows.error().message;
    return analysis::Store::open(path).value();
  }

  std::string root_;
};

constexpr char kPipeline[] =
    "process 7 name=sh start=0 end=100\nprocess 7 name=sort start=100 end=900\n"
    "process 8 name=tail start=0 end=900\n"
    "thread 7/7 start=0 end=900\nthread 8/8 start=0 end=900\n";

TEST_F(ProgramsTest, AreThoseOfTheTime) {
  analysis::Store store = opened(kPipeline);
  Programs programs;
  ASSERT_TRUE(programs.load(store, " WHERE true"));
  EXPECT_EQ(programs.earlier("h", 7, 99), "sh");
  EXPECT_EQ(programs.earlier("h", 7, -5), "sh");  // before anybody saw it
  EXPECT_EQ(programs.earlier("h", 7, 100), "");
  EXPECT_EQ(programs.earlier("h", 8, 50), "");
  EXPECT_EQ(programs.earlier("h", 7, 50), "sh");
  EXPECT_EQ(programs.earlier("elsewhere", 7, 50), "");
  EXPECT_EQ(programs.earlier("h", {}, 50), "");
}

TEST_F(ProgramsTest, RowsOfAStoreBearThem) {
  analysis::Store store = opened(std::string(kPipeline) +
                                 "event 7/7 10 +5 posix dup2\nevent 7/7 110 +5 posix read\n"
                                 "sample 7/7 20 cycles stack=a\nsample 7/7 120 cycles stack=b\n");
  StoreStream stream(store, {});
  std::vector<std::string> got;
  const auto note = [&](const auto& row) -> Status {
    got.emplace_back(row.program);
    return {};
  };
  ASSERT_TRUE(stream.events(render::EventOrder::kByThread, note));
  ASSERT_TRUE(stream.samples(note));
  ASSERT_TRUE(stream.processes([&](const render::ExportProcess& process) -> Status {
    got.emplace_back(process.name);
    return {};
  }));
  EXPECT_EQ(got, (std::vector<std::string>{"sh", "", "sh", "", "sort", "tail"}));
}

}  // namespace
}  // namespace fathom::convert
