// SPDX-License-Identifier: MIT
// The texts of the C interface, letter by letter: programs that are not ours read them.
#include "capi/json.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/import/text_recording.h"
#include "base/files.h"

namespace fathom::capi {
namespace {

TEST(ReportJson, HasWordsInsightsAndTables) {
  analysis::Report report;
  report.words = {"One sentence.", "Another \"one\"."};
  analysis::Insight priced;
  priced.rule = "r1";
  priced.severity = analysis::Severity::kHigh;
  priced.title = "t";
  priced.says = "s";
  priced.gain_ns = 5;
  priced.gain = "g";
  priced.advice = "a";
  analysis::Insight plain;
  plain.rule = "r2";
  report.insights = {priced, plain};
  Table table;
  table.title = "Calls";
  table.columns = {{"name"}, {"time", Measure::kNanoseconds}, {"share", Measure::kPercent}};
  table.rows = {{std::string("read"), std::int64_t{7}, 0.5}, {std::string("x"), Value(), true}};
  table.note = "n";
  report.sections = {{table}, {Table{.title = "Empty", .columns = {}, .rows = {}, .note = {}}}};
  report.of_part = true;
  const std::string json = report_json(report);
  const std::string begin =
      R"({"words":["One sentence.","Another \"one\"."],"insights":[)"
      R"({"rule":"r1","severity":"high","title":"t","says":"s","gain_ns":5,"gain":"g","advice":"a"},)"
      R"({"rule":"r2","severity":"medium","title":"","says":"","gain_ns":null,"gain":"","advice":""}],)"
      R"("tables":[{"title":"Calls","columns":["name","time","share"],"measures":["","ns","percent"],)"
      R"("rows":[["read",7,0.5],["x",null,true]],"note":"n","text":")";
  EXPECT_EQ(json.substr(0, begin.size()), begin);
  const std::string second =
      R"("},{"title":"Empty","columns":[],"measures":[],"rows":[],"note":"","text":")";
  EXPECT_NE(json.find(second), std::string::npos) << json;
  EXPECT_TRUE(json.ends_with(R"("}],"of_part":true})")) << json;
}

TEST(ReportJson, OfNothingIsEmpty) {
  EXPECT_EQ(report_json({}), R"({"words":[],"insights":[],"tables":[],"of_part":false})");
  EXPECT_EQ(columns_json({"a", "b"}), R"(["a","b"])");
  EXPECT_EQ(rows_json({}), "[]");
}

class DescriptionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "capi-json-XXXXXX";
    ASSERT_NE(mkdtemp(root_.data()), nullptr);
    path_ = root_ + "/a.fathom";
    ASSERT_TRUE(analysis::write_text_recording(
        "fathom recording 1\nrun host=h duration=100\nevent 7/7 10 +50 app outer\n", path_));
  }
  void TearDown() override { ASSERT_TRUE(remove_tree(root_)); }

  [[nodiscard]] std::string described() const {
    Result<analysis::Store> store = analysis::Store::open(path_);
    EXPECT_TRUE(store) << store.error().message;
    return store ? description_json(*store) : "";
  }
  static void expect_in(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in " << text;
  }

  std::string root_;
  std::string path_;
};

TEST_F(DescriptionTest, NamesFilesAndColumns) {
  const std::string json = described();
  EXPECT_TRUE(json.starts_with(R"({"state":"complete","packed":true,"parts":[{"directory":")" +
                               path_ + R"(","state":"complete","shift":0,"manifest":")"))
      << json;
  expect_in(json, R"(]},"damaged":[]}],"tables":{)");
  expect_in(json, R"("events":[["ts","BIGINT","time"],)");
  EXPECT_TRUE(json.ends_with("]]}}")) << json;
}

TEST_F(DescriptionTest, NamesDamagedFilesWithTheReason) {
  std::string broken;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
    if (entry.path().filename().string().starts_with("events")) broken = entry.path();
  }
  ASSERT_FALSE(broken.empty());
  ASSERT_TRUE(write_file_atomic(broken, "no Parquet"));
  const std::string json = described();
  expect_in(json, R"("state":"partial")");
  expect_in(json, R"("damaged":[{"path":")" + broken + R"(","reason":")");
}

}  // namespace
}  // namespace fathom::capi
