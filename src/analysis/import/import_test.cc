// SPDX-License-Identifier: MIT
#include "analysis/import/import.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/testing/import_box.h"

namespace fathom::analysis {
namespace {

constexpr char kFile[] =
    "[\n"
    R"({"id":1,"name":"pread","cat":"POSIX","pid":7,"tid":8,"ts":1700000000000000,"dur":11,"ph":"X","args":{"fhash":"5a","ret":4000,"offset":512,"count":4096}})"
    "\n"
    R"({"id":2,"name":"step","cat":"APP","pid":7,"tid":8,"ts":1699999999999990,"dur":40,"ph":"X"})"
    "\n"
    R"({"name":"FH","cat":"dftracer","pid":7,"tid":8,"ph":"M","args":{"name":"/x/y","value":"5a"}})"
    "\n]\n";

class ImportTest : public testing::ImportBox {
 protected:
  Result<ImportOutcome> import(const std::vector<std::string>& files, bool replace = false) {
    return import_into_trace(files, replace);
  }
};

TEST_F(ImportTest, OneFile) {
  const Result<ImportOutcome> outcome = import({file("a.pfw", kFile)});
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(outcome->rows, 2);
  EXPECT_EQ(outcome->damaged_lines, 0);
  EXPECT_EQ(number("SELECT count(*) FROM events WHERE name = 'pread' AND ts = 10000 AND dur = "
                   "11000 AND depth = 1 AND "
                   "file = '/x/y' AND \"offset\" = 512 AND size = 4096 AND bytes = 4000 AND layer "
                   "= 'posix'"),
            1);
  EXPECT_EQ(number("SELECT count(*) FROM events WHERE name = 'step' AND ts = 0 AND layer = 'app'"),
            1);
}

TEST_F(ImportTest, ManyFilesBecomeOneRecording) {
  const std::string a = file("a.pfw", kFile);
  ASSERT_TRUE(import({a, a, file("b.pfw", kFile)}).has_value());
  EXPECT_EQ(number("SELECT count(*) FROM events"), 6);
}

TEST_F(ImportTest, DamagedLinesAreCounted) {
  const Result<ImportOutcome> outcome =
      import({file("a.pfw", std::string(kFile) + "{\"name\":\"re\nrubbish\n")});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->damaged_lines, 2);
  EXPECT_EQ(number("SELECT CAST(sum(count) AS BIGINT) FROM losses WHERE reason = 'damaged line'"),
            2);
}

TEST_F(ImportTest, RefusedWithNothingLeftBehind) {
  const std::string good = file("good.pfw", kFile);
  const std::vector<std::vector<std::string>> cases = {
      {file("rubbish.pfw", "hello\n")},
      {file("empty.pfw", "")},
      {file("brackets.pfw", "[\n]\n")},
      {file("names.pfw", R"({"name":"FH","ph":"M","args":{"name":"/x","value":"1"}})")},
      {good, join_path(root_, "rubbish.pfw")},
      {good, join_path(root_, "missing.pfw")},
      {root_},
  };
  for (const std::vector<std::string>& files : cases) {
    const Result<ImportOutcome> outcome = import(files);
    ASSERT_FALSE(outcome.has_value()) << files.back();
    EXPECT_EQ(exit_status(outcome.error().code), 3);
    EXPECT_FALSE(path_exists(trace())) << files.back();
  }
}

TEST_F(ImportTest, ReplacesARecordingOnlyWhenAsked) {
  const std::string a = file("a.pfw", kFile);
  ASSERT_TRUE(import({a}).has_value());
  EXPECT_FALSE(import({a, a}).has_value());
  EXPECT_EQ(number("SELECT count(*) FROM events"), 2);
  ASSERT_TRUE(import({a, a}, true).has_value());
  EXPECT_EQ(number("SELECT count(*) FROM events"), 4);
  EXPECT_FALSE(import({file("bad.pfw", "x")}, true).has_value());
  EXPECT_EQ(number("SELECT count(*) FROM events"), 4);
}

std::string many(int lines) {
  std::string text = "[\n";
  for (int i = 0; i < lines; ++i) {
    text += R"({"name":"read","cat":"POSIX","pid":7,"tid":8,"ts":)" + std::to_string(i) +
            R"(,"dur":1,"ph":"X"})"
            "\n";
  }
  return text;
}

TEST_F(ImportTest, StopsWhereTheRecordingBecomesTooLarge) {
  const std::string path = file("many.pfw", many(20000));
  const Result<ImportOutcome> outcome =
      import_files({{path}}, trace(), {.on_progress = {}, .max_bytes = 4096});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kIo);
  EXPECT_EQ(outcome.error().message, trace() + " would take more than 4.00 KiB");
  EXPECT_NE(outcome.error().hint.find("--max-size"), std::string::npos);
  EXPECT_EQ(list_dir(root_)->size(), 1U) << "nothing is left of it";
  EXPECT_TRUE(import({path})) << "there is room for it on the disk";
}

TEST_F(ImportTest, NeverReplacesWhatIsNoRecording) {
  ASSERT_TRUE(make_dirs(trace()).has_value());
  file("trace/precious.txt", "x");
  EXPECT_FALSE(import({file("a.pfw", kFile)}, true).has_value());
  EXPECT_TRUE(path_exists(join_path(trace(), "precious.txt")));
}

}  // namespace
}  // namespace fathom::analysis
