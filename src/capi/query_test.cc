// SPDX-License-Identifier: MIT
#include <fathom/query.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "analysis/import/import.h"
#include "base/files.h"
#include "sql/arrow.h"

namespace fathom::capi {
namespace {

constexpr char kText[] = R"(fathom recording 1
run host=here start=1000 duration=100 command="a b"
process 7 name=a command="a b" start=0 end=100
event 7/7 10 +50 app outer
event 7/7 20 +5 posix read bytes=3 file=/x
event 7/7 30 +7 posix read bytes=4 file=/y
)";

std::string taken(char* text) {
  const std::unique_ptr<char, void (*)(char*)> owned(text, fathom_text_free);
  return text == nullptr ? "NULL" : text;
}

class QueryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/fathom-capi-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
    const std::string text = root_ + "/a.txt";
    ASSERT_TRUE(write_file_atomic(text, kText));
    const std::string files[] = {text};
    const auto made = analysis::import_files(files, root_ + "/a.fathom");
    ASSERT_TRUE(made) << made.error().message;
    const std::string path = root_ + "/a.fathom";
    const char* paths[] = {path.c_str()};
    recording_ = fathom_recording_open(paths, 1, nullptr, &error_);
    ASSERT_NE(recording_, nullptr) << error_->message;
  }
  void TearDown() override {
    fathom_recording_close(recording_);
    fathom_error_free(error_);
    (void)remove_tree(root_).has_value();
  }

  std::string answer(const char* sql, const std::vector<fathom_value>& values = {}) {
    fathom_rows* rows =
        fathom_recording_query(recording_, sql, values.data(), values.size(), nullptr);
    if (rows == nullptr) return "refused";
    std::string all = taken(fathom_rows_columns(rows, nullptr));
    for (char* text = nullptr; (text = fathom_rows_next(rows, nullptr)) != nullptr;)
      all += taken(text);
    fathom_rows_close(rows);
    return all;
  }

  std::string root_;
  fathom_recording* recording_ = nullptr;
  fathom_error* error_ = nullptr;
};

TEST_F(QueryTest, RowsOfADamagedFileSaySo) {
  std::fstream file(root_ + "/a.fathom/processes.parquet",
                    std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(4);
  file << std::string(200, '\xff');
  file.close();
  fathom_rows* rows = fathom_recording_query(recording_, "FROM processes", nullptr, 0, &error_);
  ASSERT_NE(rows, nullptr) << error_->message;
  EXPECT_EQ(fathom_rows_next(rows, &error_), nullptr);
  fathom_rows_close(rows);
  ASSERT_NE(error_, nullptr);
  const std::string message = error_->message;
  EXPECT_NE(message.find("a.fathom is damaged: processes.parquet cannot be read"),
            std::string::npos)
      << message;
}

TEST_F(QueryTest, RowsAreArraysOfValues) {
  EXPECT_EQ(answer("SELECT name, sum(bytes) AS bytes, max(file) FROM events GROUP BY 1 ORDER BY 1"),
            R"x(["name","bytes","max(file)"][["outer",null,null],["read",7,"/y"]])x");
  EXPECT_EQ(answer("SELECT name FROM events WHERE dur < 0"), R"(["name"])");
}

TEST_F(QueryTest, ParametersHaveFiveKinds) {
  const std::vector<fathom_value> values = {{FATHOM_NULL, 0, 0, nullptr},
                                            {FATHOM_BOOL, 1, 0, nullptr},
                                            {FATHOM_INTEGER, -5, 0, nullptr},
                                            {FATHOM_REAL, 0, 0.5, nullptr},
                                            {FATHOM_TEXT, 0, 0, "it's"}};
  EXPECT_EQ(answer("SELECT $1 AS a, $2 AS b, $3 AS c, $4 AS d, $5 AS e", values),
            R"(["a","b","c","d","e"][[null,true,-5,0.5,"it's"]])");
  EXPECT_EQ(answer("SELECT $1", {{99, 0, 0, nullptr}}), "refused");
}

TEST_F(QueryTest, AnErrorHasACodeAMessageAndAHint) {
  EXPECT_EQ(fathom_recording_query(recording_, "SELECT nmae FROM events", nullptr, 0, &error_),
            nullptr);
  ASSERT_NE(error_, nullptr);
  EXPECT_STREQ(error_->code, "invalid");
  EXPECT_NE(std::string(error_->message).find("nmae"), std::string::npos);
  EXPECT_NE(std::string(error_->hint).find("name"), std::string::npos);
}

TEST_F(QueryTest, WhatWritesIsDenied) {
  EXPECT_EQ(answer("COPY events TO '/tmp/x.csv'"), "refused");
  EXPECT_EQ(answer("CREATE TABLE x AS SELECT 1"), "refused");
}

TEST_F(QueryTest, TheRecordingMayCloseBeforeItsStream) {
  fathom_rows* rows =
      fathom_recording_query(recording_, "SELECT ts FROM events", nullptr, 0, &error_);
  ASSERT_NE(rows, nullptr) << error_->message;
  ArrowArrayStream stream{};
  ASSERT_EQ(fathom_rows_arrow(rows, &stream, &error_), 0);
  EXPECT_EQ(fathom_rows_next(rows, nullptr), nullptr);  // the stream has them
  fathom_rows_close(rows);
  fathom_recording_close(std::exchange(recording_, nullptr));
  ArrowArray array{};
  ASSERT_EQ(stream.get_next(&stream, &array), 0);
  EXPECT_EQ(array.length, 3);
  array.release(&array);
  stream.release(&stream);
}

TEST_F(QueryTest, ReportsAreTables) {
  const char* by[] = {"name"};
  fathom_report_options options{};
  options.size = sizeof options;
  options.by = by;
  options.by_count = 1;
  options.top = options.depth = -1;
  const std::string report =
      taken(fathom_recording_report(recording_, "functions", &options, &error_));
  EXPECT_NE(report.find(R"("columns":["name","self",)"), std::string::npos) << report;
  EXPECT_NE(report.find(R"(["outer",38,)"), std::string::npos) << report;
  EXPECT_EQ(fathom_recording_report(recording_, "nonsense", nullptr, &error_), nullptr);
  EXPECT_STREQ(error_->code, "usage");
  EXPECT_NE(taken(fathom_views(nullptr)).find(R"({"name":"overview",)"), std::string::npos);
}

TEST_F(QueryTest, ReportsSayWhatWasLost) {
  const std::string text = root_ + "/b.txt", path = root_ + "/b.fathom";
  ASSERT_TRUE(write_file_atomic(text, std::string(kText) + "loss posix full 3\n"));
  const std::string files[] = {text};
  ASSERT_TRUE(analysis::import_files(files, path));
  const char* paths[] = {path.c_str()};
  fathom_recording* lossy = fathom_recording_open(paths, 1, nullptr, &error_);
  ASSERT_NE(lossy, nullptr) << error_->message;
  const std::string words = R"("words":["Lost: 3 events, )";
  EXPECT_NE(taken(fathom_recording_report(lossy, "files", nullptr, &error_)).find(words),
            std::string::npos);
  EXPECT_EQ(taken(fathom_recording_report(recording_, "files", nullptr, &error_)).find("Lost"),
            std::string::npos);
  fathom_recording_close(lossy);
}

TEST_F(QueryTest, ReportsTellOfAPart) {
  fathom_report_options options{};
  options.size = sizeof options;
  options.top = options.depth = -1;
  options.where = "name = 'outer'";
  const std::string part =
      taken(fathom_recording_report(recording_, "functions", &options, &error_));
  EXPECT_NE(part.find(R"(["outer",)"), std::string::npos) << part;
  EXPECT_NE(part.find(R"("of_part":true)"), std::string::npos) << part;
  EXPECT_EQ(part.find(R"(["read",)"), std::string::npos) << part;
  EXPECT_NE(taken(fathom_recording_report(recording_, "functions", nullptr, &error_))
                .find(R"("of_part":false)"),
            std::string::npos);
  options.where = "1; DROP VIEW events";
  EXPECT_EQ(fathom_recording_report(recording_, "functions", &options, &error_), nullptr);
  fathom_error_free(std::exchange(error_, nullptr));
  const char* layers[] = {"nonsense"};
  options.where = nullptr;
  options.layers = layers;
  options.layer_count = 1;
  EXPECT_EQ(fathom_recording_report(recording_, "functions", &options, &error_), nullptr);
  EXPECT_STREQ(error_->code, "usage");
}

TEST_F(QueryTest, TheDescriptionNamesTheFiles) {
  const std::string text = taken(fathom_recording_describe(recording_, &error_));
  EXPECT_NE(text.find(R"("packed":true)"), std::string::npos) << text;
  EXPECT_NE(text.find(root_ + "/a.fathom/events"), std::string::npos) << text;
}

TEST_F(QueryTest, ThreadsShareARecording) {
  std::vector<std::string> answers(4);
  {
    std::vector<std::jthread> threads;
    for (std::string& one : answers) {
      threads.emplace_back([&] { one = answer("SELECT count(*) AS n FROM events"); });
    }
  }
  for (const std::string& one : answers) EXPECT_EQ(one, R"(["n"][[3]])");
}

// Values that the database does not count.
TEST_F(QueryTest, AQueryThatNeedsTooMuchMemoryFailsAndOthersGoOn) {
  const std::string path = root_ + "/a.fathom";
  const char* paths[] = {path.c_str()};
  const fathom_open_options options = {.size = sizeof options, .threads = 1, .memory = "32MiB"};
  fathom_recording* small = fathom_recording_open(paths, 1, &options, &error_);
  ASSERT_NE(small, nullptr) << error_->message;
  const auto ask = [&](const char* sql) {
    fathom_rows* rows = fathom_recording_query(small, sql, nullptr, 0, &error_);
    if (rows == nullptr) return std::string("refused");
    const std::string text = taken(fathom_rows_next(rows, &error_));
    fathom_rows_close(rows);
    return text;
  };
  EXPECT_EQ(ask("SELECT max(length(repeat(repeat('x' || ts, 1000), 60000))) FROM events"), "NULL");
  ASSERT_NE(error_, nullptr);
  EXPECT_STREQ(error_->message, "the query needs more memory than 32.0 MiB");
  fathom_error_free(error_);
  error_ = nullptr;
  EXPECT_EQ(ask("SELECT count(*) FROM events"), "[[3]]");
  fathom_recording_close(small);
  const fathom_open_options wrong = {.size = sizeof wrong, .threads = 1, .memory = "lots"};
  EXPECT_EQ(fathom_recording_open(paths, 1, &wrong, &error_), nullptr);
}

TEST_F(QueryTest, ALongQueryIsInterruptedFromAnotherThread) {
  fathom_rows* rows = fathom_recording_query(
      recording_, "SELECT sum(a.range % 7) FROM range(100000000) a, range(1000000) b", nullptr, 0,
      &error_);
  ASSERT_NE(rows, nullptr) << error_->message;
  std::atomic<bool> ended = false;
  std::jthread other([&] {
    while (!ended) {  // it may not have begun yet
      fathom_rows_interrupt(rows);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  EXPECT_EQ(fathom_rows_next(rows, &error_), nullptr);
  ended = true;
  other.join();
  EXPECT_NE(error_, nullptr);
  fathom_rows_close(rows);
  EXPECT_EQ(answer("SELECT 1 AS one"), R"(["one"][[1]])");
}

TEST(Query, WhatIsNoRecordingIsNotOpened) {
  fathom_error* error = nullptr;
  const char* paths[] = {"/nowhere/at/all"};
  EXPECT_EQ(fathom_recording_open(paths, 1, nullptr, &error), nullptr);
  ASSERT_NE(error, nullptr);
  EXPECT_STREQ(error->code, "not_found");
  fathom_error_free(error);
  EXPECT_EQ(fathom_recording_open(nullptr, 0, nullptr, nullptr), nullptr);
}

}  // namespace
}  // namespace fathom::capi
