// SPDX-License-Identifier: MIT
// Recordings whose Parquet files are hollow: right in size, with their ends, and without rows until
// a question names their table.
#include "analysis/far_rows.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "analysis/compare/testing/text_store.h"
#include "analysis/info.h"
#include "analysis/report.h"
#include "analysis/store.h"
#include "analysis/testing/sample_recording.h"
#include "base/files.h"
#include "trace/recording/parquet_file.h"

namespace fathom::analysis {
namespace {

namespace fs = std::filesystem;

// Makes the files of a recording hollow, and fills them again in place.
class Hollow final : public FarRows {
 public:
  explicit Hollow(const std::string& directory) {
    for (const auto& entry : fs::directory_iterator(directory)) {
      const std::string name = entry.path().filename();
      const auto parquet = trace::parse_parquet_name(name);
      if (!parquet) continue;
      const std::string content = read_file(entry.path()).value();
      files_[parquet->table][entry.path()] = content;
      std::string hollow(content.size(), '\0');
      std::uint32_t footer = 0;
      std::memcpy(&footer, content.data() + content.size() - 8, 4);
      hollow.replace(0, 4, "PAR1");
      hollow.replace(content.size() - footer - 8, footer + 8,
                     content.substr(content.size() - footer - 8));
      write(entry.path(), hollow);
    }
  }

  Status bring(const std::set<std::string>& tables) override {
    for (const std::string& table : tables) {
      if (!brought.insert(table).second) continue;
      for (const auto& [path, content] : files_[table]) write(path, content);
    }
    return {};
  }
  Size size() const override { return {7, 4711}; }

  std::set<std::string> brought;

 private:
  static void write(const std::string& path, const std::string& content) {
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << content;
  }
  std::map<std::string, std::map<std::string, std::string>> files_;
};

class FarRowsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(root_);
    fs::create_directories(root_);
    ASSERT_TRUE(testing::write_sample(root_ + "/near"));
    ASSERT_TRUE(testing::write_sample(root_ + "/far"));
    hollow_ = std::make_shared<Hollow>(root_ + "/far");
    add_far_rows(root_ + "/far", hollow_);
  }
  void TearDown() override { fs::remove_all(root_); }

  static Store open(const std::string& path) {
    Result<Store> store = Store::open(path, {.resolver = {}, .threads = 1});
    EXPECT_TRUE(store) << store.error().message;
    return std::move(store).value();
  }
  Store near() const { return open(root_ + "/near"); }
  Store far() const { return open(root_ + "/far"); }

  static std::string told(Store& store, const std::string& sql) {
    const Result<Table> table = store.query_untrusted(sql);
    EXPECT_TRUE(table) << sql << ": " << table.error().message;
    const auto* text = table ? std::get_if<std::string>(&table->rows.at(0).at(0).data) : nullptr;
    return text == nullptr ? "" : *text;
  }

  std::string root_ = ::testing::TempDir() + "fathom_far_" + std::to_string(getpid());
  std::shared_ptr<Hollow> hollow_;
};

TEST_F(FarRowsTest, OpeningBringsNothing) {
  Store store = far();
  EXPECT_TRUE(hollow_->brought.empty());
  EXPECT_FALSE(store.packed());  // nobody is told to read the files himself
  EXPECT_TRUE(near().packed());
}

TEST_F(FarRowsTest, AQuestionBringsTheTablesThatItNames) {
  Store store = far();
  Store here = near();
  const std::string sql = "SELECT CAST(sum(dur) AS VARCHAR) FROM events";
  EXPECT_EQ(told(store, sql), told(here, sql));
  EXPECT_EQ(hollow_->brought, std::set<std::string>{"events"});
}

TEST_F(FarRowsTest, NamesAreFoundBehindViewsAndInsideOfStatements) {
  Store store = far();
  ASSERT_TRUE(store.query("CREATE TEMP VIEW outer_one AS SELECT * FROM summary"));
  EXPECT_TRUE(hollow_->brought.empty());
  ASSERT_TRUE(store.query("CREATE TEMP TABLE kept AS WITH a AS (FROM outer_one) SELECT * FROM a"));
  EXPECT_EQ(hollow_->brought, std::set<std::string>{"summary"});
  (void)told(store, "SELECT CAST(count(*) AS VARCHAR) FROM (SELECT 1 FROM Threads LIMIT 1)");
  EXPECT_TRUE(hollow_->brought.contains("threads"));
  EXPECT_FALSE(hollow_->brought.contains("events"));
}

// The column of that name does not count.
TEST_F(FarRowsTest, ReportsOfSumsLeaveEventsWhereTheyAre) {
  Store store = far();
  (void)told(store, "SELECT CAST(sum(events) AS VARCHAR) FROM layers");
  for (const ViewDef* view : views()) {
    if (view->name != "layers" && view->name != "files") continue;
    const Result<Report> report = make_report(*view, store, {});
    EXPECT_TRUE(report) << view->name << ": " << report.error().message;
  }
  EXPECT_FALSE(hollow_->brought.contains("events"));
}

// Whatever a view asks: answers are those of a recording that is here.
TEST_F(FarRowsTest, EveryReportSaysWhatItSaysOfARecordingHere) {
  Store here = near();
  for (const ViewDef* view : views()) {
    fs::remove_all(root_ + "/far");
    ASSERT_TRUE(testing::write_sample(root_ + "/far"));
    hollow_ = std::make_shared<Hollow>(root_ + "/far");
    add_far_rows(root_ + "/far", hollow_);
    Store store = far();
    const Result<Report> there = make_report(*view, store, {});
    const Result<Report> local = make_report(*view, here, {});
    ASSERT_EQ(there.has_value(), local.has_value())
        << view->name << ": " << (there ? local.error().message : there.error().message);
    if (!there) continue;
    EXPECT_EQ(there->words, local->words) << view->name;
    ASSERT_EQ(there->sections.size(), local->sections.size()) << view->name;
    for (std::size_t i = 0; i < there->sections.size(); ++i)
      EXPECT_EQ(testing::lines_of(there->sections[i].table),
                testing::lines_of(local->sections[i].table))
          << view->name;
  }
}

TEST_F(FarRowsTest, WhatCannotBeBroughtFailsTheQuestion) {
  class Away final : public FarRows {
   public:
    Status bring(const std::set<std::string>& /*tables*/) override {
      return Error{Code::kUnavailable, "nobody answers", ""};
    }
    Size size() const override { return {}; }
  };
  hollow_.reset();
  const std::shared_ptr<FarRows> away = std::make_shared<Away>();
  add_far_rows(root_ + "/far", away);
  Store store = far();
  EXPECT_EQ(store.query_untrusted("FROM events").error().code, Code::kUnavailable);
  EXPECT_TRUE(store.query_untrusted("FROM run"));
}

TEST_F(FarRowsTest, InfoTellsTheSizeThatItHasElsewhere) {
  Result<Info> info = read_info(root_ + "/far");
  ASSERT_TRUE(info) << info.error().message;
  bool found = false;
  const Value object = info_object(*info);
  for (const auto& [key, value] : std::get<Object>(object.data)) {
    const auto* number = std::get_if<std::int64_t>(&value.data);
    if (key == "bytes") found = number != nullptr && *number == 4711;
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace fathom::analysis
