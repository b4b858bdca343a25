// SPDX-License-Identifier: MIT
#include "sql/connection.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

namespace fathom::sql {
namespace {

Connection connect(const DatabaseOptions& options = {}) {
  auto database = Database::open_memory(options);
  EXPECT_TRUE(database) << database.error().message;
  auto connection = Connection::open(*database);
  EXPECT_TRUE(connection) << connection.error().message;
  return std::move(connection).value();
}

// A value in a form that shows its kind too.
std::string shown(const Value& value) {
  struct Show {
    std::string operator()(std::monostate) const { return "null"; }
    std::string operator()(bool yes) const { return yes ? "true" : "false"; }
    std::string operator()(std::int64_t n) const { return "i" + std::to_string(n); }
    std::string operator()(std::uint64_t n) const { return "u" + std::to_string(n); }
    std::string operator()(double d) const { return "d" + std::to_string(d); }
    std::string operator()(const std::string& text) const { return "'" + text + "'"; }
    std::string operator()(const List& list) const {
      std::string out = "[";
      for (const Value& item : list) out += shown(item) + " ";
      return out + "]";
    }
    std::string operator()(const Object& object) const {
      std::string out = "{";
      for (const auto& [key, item] : object) out += key + "=" + shown(item) + " ";
      return out + "}";
    }
  };
  return std::visit(Show{}, value.data);
}

TEST(Connection, EveryTypeHasItsValue) {
  Connection connection = connect();
  struct Case {
    const char* sql;
    const char* want;
  };
  const Case cases[] = {
      {"NULL", "null"},
      {"true", "true"},
      {"(-5)::TINYINT", "i-5"},
      {"(-500)::SMALLINT", "i-500"},
      {"7::INTEGER", "i7"},
      {"(-9223372036854775808)::BIGINT", "i-9223372036854775808"},
      {"200::UTINYINT", "i200"},
      {"60000::USMALLINT", "i60000"},
      {"4000000000::UINTEGER", "i4000000000"},
      {"5::UBIGINT", "i5"},
      {"18446744073709551615::UBIGINT", "u18446744073709551615"},
      {"sum(x) FROM (VALUES (9223372036854775807::BIGINT), (1)) t(x)", "u9223372036854775808"},
      {"(-1)::HUGEINT", "i-1"},
      {"(-9223372036854775809)::HUGEINT", "'-9223372036854775809'"},
      {"170141183460469231731687303715884105727::HUGEINT",
       "'170141183460469231731687303715884105727'"},
      {"340282366920938463463374607431768211455::UHUGEINT",
       "'340282366920938463463374607431768211455'"},
      {"1.5::DOUBLE", "d1.500000"},
      {"0.5::FLOAT", "d0.500000"},
      {"1.25", "d1.250000"},
      {"(-0.03)::DECIMAL(4,2)", "d-0.030000"},
      {"12345678901234567890.125::DECIMAL(38,3)", "'12345678901234567890.125'"},
      {"'short'", "'short'"},
      {"'longer than twelve bytes, naïve 測深'", "'longer than twelve bytes, naïve 測深'"},
      {"'\\xAA\\x00ab'::BLOB", "'\\xaa\\x00ab'"},
      {"[1, NULL, 3]", "[i1 null i3 ]"},
      {"[]::INTEGER[]", "[]"},
      {"[[1], [2, 3]]", "[[i1 ] [i2 i3 ] ]"},
      {"array_value(1, 2)", "[i1 i2 ]"},
      {"MAP {'k': 'v', 'l': NULL}", "{k='v' l=null }"},
      {"MAP {1: 2.5}", "{1=d2.500000 }"},
      {"{'a': 1, 'b': ['x']}", "{a=i1 b=['x' ] }"},
      {"'b'::ENUM('a', 'b')", "'b'"},
      {"DATE '2026-11-15'", "'2026-11-15'"},
      {"TIME '12:34:56.789'", "'12:34:56.789'"},
      {"TIMESTAMP '2026-11-15 04:30:00'", "'2026-11-15 04:30:00'"},
      {"TIMESTAMP_NS '2026-11-15 04:30:00.123456789'", "'2026-11-15 04:30:00.123456789'"},
      {"INTERVAL 90 SECOND", "'00:01:30'"},
      {"'00112233-4455-6677-8899-aabbccddeeff'::UUID", "'00112233-4455-6677-8899-aabbccddeeff'"},
      {"'10110'::BIT", "'10110'"},
  };
  for (const Case& c : cases) {
    const auto table = connection.query(std::string("SELECT ") + c.sql);
    ASSERT_TRUE(table) << c.sql << ": " << table.error().message;
    ASSERT_EQ(table->rows.size(), 1U) << c.sql;
    const std::string got = shown(table->rows[0][0]);
    EXPECT_EQ(got, c.want) << c.sql;
  }
}

TEST(Connection, ATypeWithoutAPlainFormSaysToCast) {
  Connection connection = connect();
  const auto table = connection.query("SELECT union_value(n := 1) AS u");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, Code::kUnsupported);
  EXPECT_NE(table.error().hint.find("CAST"), std::string::npos);
}

TEST(Connection, AStatementThatFailsSaysWhy) {
  Connection connection = connect();
  const Status done = connection.execute("INSERT INTO nowhere VALUES (1)");
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("nowhere"), std::string::npos) << done.error().message;
  EXPECT_TRUE(connection.execute("CREATE TABLE nowhere (i BIGINT)"));
  EXPECT_TRUE(connection.execute("INSERT INTO nowhere VALUES (1)"));
}

TEST(Connection, ParametersAreBound) {
  Connection connection = connect();
  const auto table = connection.query(
      "SELECT $1, $2, $3, $4, $5",
      {Value(), Value(true), Value(std::int64_t{-3}), Value(2.5), Value(std::string("it's"))});
  ASSERT_TRUE(table) << table.error().message;
  std::string row;
  for (const Value& value : table->rows[0]) row += shown(value) + " ";
  EXPECT_EQ(row, "null true i-3 d2.500000 'it's' ");
  EXPECT_FALSE(connection.query("SELECT $1"));
  EXPECT_FALSE(connection.query("SELECT 1", {Value(true)}));
}

TEST(Connection, StreamingGivesEveryRowOnceAndTheColumnsOfNothing) {
  Connection connection = connect();
  std::int64_t rows = 0;
  std::int64_t sum = 0;
  const Status streamed =
      connection.stream("FROM range(100000)", [&](const Table& table) -> Status {
        EXPECT_EQ(table.columns.at(0).name, "range");
        for (const auto& row : table.rows) sum += std::get<std::int64_t>(row[0].data);
        rows += static_cast<std::int64_t>(table.rows.size());
        return {};
      });
  ASSERT_TRUE(streamed);
  EXPECT_EQ(rows, 100000);
  EXPECT_EQ(sum, std::int64_t{100000} * 99999 / 2);

  const auto none = connection.query("SELECT 1 AS a, 'x' AS b WHERE false");
  ASSERT_TRUE(none);
  EXPECT_EQ(none->columns.size(), 2U);
  EXPECT_TRUE(none->rows.empty());
}

TEST(Connection, ACallbacksErrorEndsTheStreamAndTheConnectionGoesOn) {
  Connection connection = connect();
  int calls = 0;
  const Status streamed = connection.stream("FROM range(1000000)", [&](const Table&) -> Status {
    ++calls;
    return Error{Code::kIo, "disk full", ""};
  });
  ASSERT_FALSE(streamed);
  EXPECT_EQ(streamed.error().message, "disk full");
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(connection.query("SELECT 1"));
}

TEST(Connection, AnErrorInTheMiddleOfAStreamIsTold) {
  Connection connection = connect();
  const auto table =
      connection.query("SELECT CASE WHEN range = 90000 THEN error('boom') END FROM range(100000)");
  ASSERT_FALSE(table);
  EXPECT_NE(table.error().message.find("boom"), std::string::npos);
}

TEST(Connection, OptionsReachTheEngine) {
  Connection connection =
      connect({.threads = 1, .memory_limit = "300MB", .temp_directory = "/tmp/fathom-spill"});
  const auto table = connection.query(
      "SELECT current_setting('threads'), current_setting('memory_limit'), "
      "current_setting('temp_directory')");
  ASSERT_TRUE(table);
  EXPECT_EQ(shown(table->rows[0][0]), "i1");
  EXPECT_EQ(shown(table->rows[0][1]), "'286.1 MiB'");
  EXPECT_EQ(shown(table->rows[0][2]), "'/tmp/fathom-spill'");
  EXPECT_FALSE(Database::open_memory({.memory_limit = "much"}));
}

TEST(Connection, OutlivesItsDatabaseHandle) {
  Connection connection = connect();
  EXPECT_TRUE(connection.query("SELECT 42"));
}

}  // namespace
}  // namespace fathom::sql
