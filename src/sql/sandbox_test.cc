// SPDX-License-Identifier: MIT
// What a query of somebody else's cannot do.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sql/connection.h"
#include "sql/parquet_writer.h"

namespace fathom::sql {
namespace {

namespace fs = std::filesystem;

class Sandbox : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "fathom_sandbox";
    fs::remove_all(root_);
    fs::create_directories(root_ + "/rec");
    std::ofstream(root_ + "/secret.csv") << "a,b\n1,2\n";
    fs::create_symlink(root_ + "/secret.csv", root_ + "/rec/link.csv");
    auto database = Database::open_memory({.threads = 1});
    ASSERT_TRUE(database) << database.error().message;
    connection_.emplace(Connection::open(*database).value());
    ASSERT_TRUE(connection_->execute("COPY (FROM range(10) t(x)) TO '" + recorded() + "'"));
    ASSERT_TRUE(
        connection_->execute("COPY (FROM range(3) t(x)) TO '" + root_ + "/outside.parquet'"));
    ASSERT_TRUE(
        connection_->execute("CREATE VIEW events AS FROM read_parquet('" + recorded() + "')"));
    const std::string directories[] = {root_ + "/rec/"};
    const Status locked = connection_->lock_down(directories);
    ASSERT_TRUE(locked) << locked.error().message;
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string recorded() const { return root_ + "/rec/events.parquet"; }
  std::string with_root(std::string sql) const {
    for (auto at = sql.find("ROOT"); at != std::string::npos; at = sql.find("ROOT"))
      sql.replace(at, 4, root_);
    return sql;
  }
  // Every file with its size, to see that nothing was made, changed or removed.
  std::string listing() const {
    std::string out;
    for (const auto& entry : fs::recursive_directory_iterator(root_)) {
      out += entry.path().string();
      if (entry.is_regular_file()) out += " " + std::to_string(entry.file_size());
      out += "\n";
    }
    return out;
  }

  std::string root_;
  std::optional<Connection> connection_;
};

TEST_F(Sandbox, WhatReadsIsAllowed) {
  const char* allowed[] = {
      "SELECT count(*) FROM events",
      "FROM events",
      "VALUES (1), (2)",
      "SHOW TABLES",
      "DESCRIBE events",
      "SUMMARIZE events",
      "WITH t AS (SELECT x FROM events) SELECT sum(x) FROM t;",
      "PIVOT (SELECT x % 2 AS odd, x FROM events) ON odd IN (0, 1) USING sum(x)",
      "SELECT x FROM events ORDER BY x DESC",
      "SELECT unnest([1, 2]) FROM range(3)",
      "SELECT 'enable_logging()' AS function, {'function': 1}.function FROM duckdb_views()",
      "SELECT e.x, row_number() OVER (ORDER BY e.x) FROM events e JOIN events f USING (x)",
      "SELECT x FROM read_parquet('ROOT/rec/events.parquet')",
  };
  for (const char* sql : allowed) {
    const auto table = connection_->query_untrusted(with_root(sql));
    EXPECT_TRUE(table) << sql << ": " << table.error().message;
  }
}

TEST_F(Sandbox, EverythingElseIsRefusedInOneLine) {
  const char* refused[] = {
      "",
      ";",
      "-- only a comment",
      "SELEC 1",
      "SELECT depht FROM events",
      "SELECT 1; SELECT 2",
      "SELECT 1; COPY (SELECT 1) TO 'ROOT/rec/stolen'",
      "SELECT * FROM read_csv('ROOT/secret.csv')",
      "SELECT * FROM 'ROOT/secret.csv'",
      "SELECT * FROM read_csv('ROOT/rec/../secret.csv')",
      "SELECT * FROM read_csv('ROOT/rec/link.csv')",
      "SELECT * FROM read_text('/etc/passwd')",
      "SELECT * FROM read_blob('/etc/passwd')",
      "SELECT * FROM glob('/etc/*')",
      "SELECT * FROM read_parquet('ROOT/outside.parquet')",
      "SELECT * FROM parquet_metadata('ROOT/outside.parquet')",
      "SELECT * FROM read_parquet('https://example.com/x.parquet')",
      "COPY (SELECT 1) TO 'ROOT/stolen'",
      "COPY (SELECT 1) TO 'ROOT/rec/events.parquet'",
      "COPY events TO 'ROOT/rec/stolen'",
      "EXPORT DATABASE 'ROOT/rec/stolen'",
      "ATTACH 'ROOT/rec/stolen'",
      "ATTACH 'ROOT/rec/stolen' AS s",
      "CREATE TABLE stolen (x INT)",
      "CREATE TEMP TABLE stolen AS SELECT 1",
      "CREATE MACRO m() AS 1",
      "DROP VIEW events",
      "INSERT INTO events VALUES (1)",
      "WITH t AS (INSERT INTO events VALUES (1) RETURNING *) SELECT * FROM t",
      "SET enable_external_access = true",
      "SET memory_limit = '100GB'",
      "RESET lock_configuration",
      "PRAGMA enable_profiling",
      "SET VARIABLE x = 1",
      "LOAD 'stolen'",
      "INSTALL httpfs",
      "INSTALL 'ROOT/stolen'",
      "CALL enable_logging()",
      "SELECT * FROM enable_logging(storage = 'file', storage_path = 'ROOT/rec')",
      "SELECT (SELECT 1 FROM system.main.enable_logging(storage = 'file', storage_path = 'ROOT'))",
      "FROM query('FROM enable_log' || 'ging(storage = ''file'', storage_path = ''ROOT/rec'')')",
      "WITH t AS MATERIALIZED (FROM ENABLE_LOGGING()) SELECT 1 FROM t",
      "SELECT * FROM events, LATERAL (FROM \"query\"('SELECT 1'))",
      "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('FROM enable_logging()'))",
      "SELECT * FROM arrow_scan(1::POINTER, 2::POINTER, 3::POINTER)",
      "FROM force_checkpoint()",
      "FROM enable_profiling()",
      "FROM truncate_duckdb_logs()",
      "SELECT x FROM events WHERE x IN (FROM enable_peg_parser())",
      "DESCRIBE FROM enable_logging()",
      "SUMMARIZE FROM enable_logging()",
      "BEGIN",
      "CHECKPOINT",
      "VACUUM",
      "USE memory",
      "PREPARE p AS SELECT 1",
      "EXPLAIN SELECT 1",
      "EXPLAIN ANALYZE COPY (SELECT 1) TO 'ROOT/rec/stolen'",
      "PIVOT events ON x",
      "SELECT * FROM fathom_rows(1)",
      "SELECT getenv('HOME')",
  };
  const std::string before = listing();
  for (const char* sql : refused) {
    const auto table = connection_->query_untrusted(with_root(sql));
    ASSERT_FALSE(table) << sql;
    EXPECT_FALSE(table.error().message.empty()) << sql;
    EXPECT_EQ(table.error().message.find('\n'), std::string::npos) << sql;
    EXPECT_EQ(table.error().hint.find('\n'), std::string::npos) << sql;
  }
  EXPECT_FALSE(connection_->query_untrusted(std::string("SELECT 1\0; COPY", 15)));
  EXPECT_EQ(listing(), before);
  const auto still = connection_->query_untrusted("SELECT count(*) FROM events");
  ASSERT_TRUE(still);
  EXPECT_EQ(std::get<std::int64_t>(still->rows[0][0].data), 10);
}

TEST_F(Sandbox, ParametersAreBound) {
  const auto table = connection_->query_untrusted("SELECT count(*) FROM events WHERE x < $1",
                                                  {Value(std::int64_t{4})});
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(std::get<std::int64_t>(table->rows[0][0].data), 4);
}

TEST_F(Sandbox, ErrorsSayWhatToDo) {
  const auto column = connection_->query_untrusted("SELECT y FROM events");
  ASSERT_FALSE(column);
  EXPECT_NE(column.error().hint.find("\"x\""), std::string::npos) << column.error().hint;
  const auto pivot = connection_->query_untrusted("PIVOT events ON x");
  ASSERT_FALSE(pivot);
  EXPECT_NE(pivot.error().hint.find("PIVOT"), std::string::npos);
  const auto written = connection_->query_untrusted("DROP VIEW events");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::kDenied);
}

TEST_F(Sandbox, OurOwnRowsCanStillBeRegistered) {
  const ColumnDef columns[] = {{"x", ColumnKind::kInt64}};
  const std::int64_t values[] = {1, 2, 3};
  const ColumnData data[] = {{.int64s = values}};
  ASSERT_TRUE(register_table(*connection_, "live", {columns, data, 3}));
  const auto sum = connection_->query_untrusted("SELECT sum(x) FROM live");
  ASSERT_TRUE(sum);
  EXPECT_EQ(std::get<std::int64_t>(sum->rows[0][0].data), 6);
}

}  // namespace
}  // namespace fathom::sql
