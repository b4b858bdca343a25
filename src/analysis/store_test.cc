// SPDX-License-Identifier: MIT
#include "analysis/store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "analysis/contract.h"
#include "analysis/damage.h"
#include "analysis/testing/sample_recording.h"
#include "analysis/view_tools.h"

namespace fathom::analysis {
namespace {

namespace fs = std::filesystem;
using analysis::testing::write_sample;

class StoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "fathom_store_" + std::to_string(getpid());
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string path(const std::string& name) const { return root_ + "/" + name; }

  Store open(const std::string& name) const {
    Result<Store> store = Store::open(path(name), {.resolver = {}, .threads = 1});
    EXPECT_TRUE(store) << store.error().message;
    return std::move(store).value();
  }

  // The only cell of a query's answer.
  static std::int64_t number(Store& store, const std::string& sql) {
    const Result<Table> table = store.query_untrusted(sql);
    EXPECT_TRUE(table) << sql << ": " << table.error().message;
    return table ? int_of(table->rows.at(0).at(0)) : -1;
  }

  std::string root_;
};

TEST_F(StoreTest, EveryViewHasTheColumnsOfTheContractInOrder) {
  ASSERT_TRUE(write_sample(path("a")));
  Store store = open("a");
  for (const ViewSpec& view : recorded_views()) {
    const Result<Table> table =
        store.query_untrusted("FROM " + std::string(view.name) + " LIMIT 0");
    ASSERT_TRUE(table) << view.name << ": " << table.error().message;
    ASSERT_EQ(table->columns.size(), view.columns.size()) << view.name;
    for (std::size_t i = 0; i < view.columns.size(); ++i) {
      EXPECT_EQ(table->columns[i].name, view.columns[i].name) << view.name;
    }
  }
}

// Planning them takes longer than most questions of ours.
TEST_F(StoreTest, ViewsOfReportsAreMadeWhenTheyAreNeeded) {
  ASSERT_TRUE(write_sample(path("a")));
  Store store = open("a");
  EXPECT_TRUE(store.query_sums("FROM totals, pace, machine, io, losses, layers, run LIMIT 0"));
  EXPECT_FALSE(store.query_sums("FROM files LIMIT 0"));
  EXPECT_TRUE(store.query("FROM files LIMIT 0"));
  EXPECT_TRUE(store.query_sums("FROM files LIMIT 0"));
}

TEST_F(StoreTest, TypesAreThoseOfTheContractWithRowsAndWithout) {
  ASSERT_TRUE(write_sample(path("a")));
  Store store = open("a");
  for (const ViewSpec& view : recorded_views()) {
    const Result<Table> types =
        store.query("SELECT data_type FROM duckdb_columns() WHERE table_name = '" +
                    std::string(view.name) + "' ORDER BY column_index");
    ASSERT_TRUE(types) << types.error().message;
    ASSERT_EQ(types->rows.size(), view.columns.size()) << view.name;
    for (std::size_t i = 0; i < view.columns.size(); ++i) {
      EXPECT_EQ(text_of(types->rows[i][0]), view.columns[i].type)
          << view.name << "." << view.columns[i].name;
    }
  }
}

TEST_F(StoreTest, RowsComeBackExactly) {
  ASSERT_TRUE(write_sample(path("a")));
  Store store = open("a");
  EXPECT_EQ(number(store, "SELECT count(*) FROM events"), 103);
  EXPECT_EQ(number(store, "SELECT sum(bytes)::BIGINT FROM events WHERE name = 'pread'"), 409'600);
  const Result<Table> row = store.query_untrusted(
      "SELECT error, entry, args['flags'], host, file FROM events WHERE name = 'open'");
  ASSERT_TRUE(row) << row.error().message;
  const char* const wanted[] = {"ENOENT", "open64", "0", "here", "/data/none"};
  for (std::size_t i = 0; i < std::size(wanted); ++i) {
    EXPECT_EQ(text_of(row->rows.at(0).at(i)), wanted[i]);
  }
}

TEST_F(StoreTest, LayersCountTheirRowsAndExplainSilence) {
  ASSERT_TRUE(write_sample(path("a")));
  Store store = open("a");
  EXPECT_EQ(number(store, "SELECT count(*) FROM layers"),
            static_cast<std::int64_t>(layer_names().size()));
  EXPECT_EQ(number(store, "SELECT count(*) FROM layers WHERE events = 0 AND reason = ''"), 0);
  EXPECT_EQ(
      number(store,
             "SELECT count(*) FROM layers JOIN (SELECT layer, count(*) AS n FROM events GROUP "
             "BY layer) USING (layer) WHERE events = n"),
      2);
  EXPECT_EQ(number(store, "SELECT events FROM layers WHERE layer = 'resource'"), 2);
}

TEST_F(StoreTest, FilesSumUpAndLossesAreKept) {
  ASSERT_TRUE(write_sample(path("a"), {.lost = 7}));
  Store store = open("a");
  EXPECT_EQ(number(store, "SELECT calls FROM files WHERE path = '/data/in'"), 100);
  EXPECT_EQ(number(store, "SELECT bytes_read FROM files WHERE path = '/data/in'"), 409'600);
  EXPECT_EQ(number(store, "SELECT bytes_written FROM files WHERE path = '/data/out'"), 100);
  EXPECT_EQ(number(store, "SELECT count(inode) FROM files"), 0);  // nobody looked at them
  EXPECT_EQ(number(store, "SELECT \"count\" FROM losses WHERE layer = 'posix'"), 7);
  EXPECT_EQ(
      number(store, "SELECT count(*) FROM run WHERE key = 'command' AND value = 'work --fast'"), 1);
}

TEST_F(StoreTest, SeveralRecordingsShareOneTimeLine) {
  ASSERT_TRUE(
      write_sample(path("all/a"), {.host = "a", .reads = 30, .start_realtime_ns = 5'000'000'000}));
  ASSERT_TRUE(
      write_sample(path("all/b"), {.host = "b", .reads = 12, .start_realtime_ns = 5'000'400'000}));
  Store store = open("all");
  EXPECT_EQ(number(store, "SELECT count(*) FROM events WHERE name = 'pread'"), 42);
  EXPECT_EQ(number(store, "SELECT min(ts) FROM events WHERE host = 'a'"), 0);
  EXPECT_EQ(number(store, "SELECT min(ts) FROM events WHERE host = 'b'"), 400'000);
  EXPECT_EQ(number(store, "SELECT start FROM processes WHERE host = 'b'"), 400'000);
  EXPECT_EQ(number(store, "SELECT events FROM layers WHERE layer = 'posix'"), 46);
  EXPECT_EQ(*store.wall_ns(), 1'400'000);
  EXPECT_EQ(number(store, "SELECT count(*) FROM run WHERE key IN ('a/command', 'b/command')"), 2);
}

TEST_F(StoreTest, NothingOutsideTheRecordingCanBeReadOrChanged) {
  ASSERT_TRUE(write_sample(path("a")));
  std::ofstream(path("secret.csv")) << "a\n1\n";
  Store store = open("a");
  for (const std::string& sql :
       {std::string("DROP VIEW events"), "FROM read_csv('" + path("secret.csv") + "')",
        std::string("SET enable_external_access = true"), std::string("SELEC 1")}) {
    EXPECT_FALSE(store.query_untrusted(sql)) << sql;
  }
}

TEST_F(StoreTest, ADamagedFileIsSetAsideAndNamed) {
  ASSERT_TRUE(write_sample(path("a")));
  for (const auto& entry : fs::directory_iterator(path("a"))) {
    const std::string name = entry.path().filename();
    if (name.starts_with("counters"))
      fs::resize_file(entry.path(), fs::file_size(entry.path()) - 20);
  }
  Store store = open("a");
  EXPECT_EQ(store.state(), trace::RunState::kPartial);
  ASSERT_EQ(store.parts()[0].damaged.size(), 1U);
  EXPECT_NE(store.parts()[0].damaged[0].path.find("counters"), std::string::npos);
  EXPECT_EQ(number(store, "SELECT count(*) FROM counters"), 0);
  EXPECT_EQ(number(store, "SELECT events FROM layers WHERE layer = 'resource'"), 0);
  EXPECT_EQ(number(store, "SELECT events FROM layers WHERE layer = 'posix'"), 102);
}

TEST_F(StoreTest, AGarbledFooterIsDamageToo) {
  ASSERT_TRUE(write_sample(path("a")));
  for (const auto& entry : fs::directory_iterator(path("a"))) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("counters")) continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(entry.path())) - 60);
    file << std::string(40, '\xff');
  }
  Store store = open("a");
  EXPECT_EQ(store.parts()[0].damaged.size(), 1U);
  EXPECT_EQ(number(store, "SELECT count(*) FROM events"), 103);
}

// Bytes inside a file are looked at only when rows are read.
class DamagedInside : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    ASSERT_TRUE(write_sample(path("a")));
    invert("counters");
  }
  void invert(const std::string& table) const {
    for (const auto& entry : fs::directory_iterator(path("a"))) {
      if (!entry.path().filename().string().starts_with(table)) continue;
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(4);
      file << std::string(200, '\xff');
    }
  }
  void expect_damage(const Error& error) const {
    EXPECT_EQ(error.code, Code::kCorrupt) << error.message;
    EXPECT_TRUE(error.message.starts_with("the recording " + path("a") + " is damaged: counters"))
        << error.message;
    EXPECT_NE(error.message.find("parquet cannot be read (Invalid "), std::string::npos)
        << error.message;
    EXPECT_EQ(error.message.find("/proc/self"), std::string::npos) << error.message;
    EXPECT_NE(error.hint.find("move counters"), std::string::npos) << error.hint;
  }
};

TEST_F(DamagedInside, IsToldAsDamageOfAFile) {
  Store store = open("a");
  const std::string sql = "SELECT max(hash(c)) FROM counters c";
  expect_damage(store.query(sql).error());
  expect_damage(store.query_sums(sql).error());
  expect_damage(store.query_untrusted(sql).error());
  expect_damage(store.stream("FROM counters", [](const Table&) { return Status(); }).error());
  EXPECT_EQ(number(store, "SELECT count(*) FROM events"), 103);
}

TEST_F(DamagedInside, AllDamagedFilesAreNamed) {
  invert("processes");
  const Error error = open("a").query("SELECT max(hash(c)) FROM counters c").error();
  EXPECT_EQ(error.code, Code::kCorrupt);
  EXPECT_NE(error.message.find(".parquet, processes.parquet cannot be read"), std::string::npos)
      << error.message;
  EXPECT_NE(error.hint.find("move these files"), std::string::npos) << error.hint;
}

// Rows that are taken when the store has gone: whoever takes them asks.
TEST_F(DamagedInside, RowsTakenLaterTellItToo) {
  Store store = open("a");
  const DamageFinder damage(store.parts());
  Result<sql::Cursor> cursor = store.ask("FROM counters");
  ASSERT_TRUE(cursor) << cursor.error().message;
  expect_damage(damage.explained(cursor->next().error()));
}

// What is wrong with a question is no damage, and of a sound recording nothing is.
TEST_F(DamagedInside, FaultsOfAQuestionStayThose) {
  Store store = open("a");
  EXPECT_EQ(store.query_untrusted("SELECT nothing FROM counters").error().code, Code::kInvalid);
  EXPECT_EQ(store.query_untrusted("SELECT CAST('x' AS INT) FROM events").error().code,
            Code::kInvalid);
  ASSERT_TRUE(write_sample(path("b")));
  Store sound = open("b");
  const Error error = sound.query_untrusted("SELECT error('mine') FROM counters").error();
  EXPECT_EQ(error.code, Code::kInvalid);
  EXPECT_NE(error.message.find("mine"), std::string::npos) << error.message;
}

TEST_F(StoreTest, WhatIsNoRecordingIsRefused) {
  fs::create_directories(path("empty"));
  EXPECT_FALSE(Store::open(path("empty")));
  EXPECT_FALSE(Store::open(path("missing")));
}

}  // namespace
}  // namespace fathom::analysis
