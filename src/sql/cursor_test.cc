// SPDX-License-Identifier: MIT
#include "sql/cursor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "sql/arrow.h"

namespace fathom::sql {
namespace {

class CursorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto database = Database::open_memory({.threads = 1});
    ASSERT_TRUE(database) << database.error().message;
    auto opened = Connection::open(*database);
    ASSERT_TRUE(opened) << opened.error().message;
    connection_.emplace(std::move(opened).value());
    ASSERT_TRUE(
        connection_->execute("CREATE TABLE t AS SELECT i, i::VARCHAR AS s FROM range(5000) r(i)"));
    ASSERT_TRUE(connection_->lock_down({}));
  }

  Result<Cursor> ask(const std::string& sql, const Parameters& parameters = {}) {
    auto other = connection_->another();
    if (!other) return std::move(other).error();
    return Cursor::open(std::move(other).value(), sql, parameters);
  }

  std::optional<Connection> connection_;
};

std::int64_t sum_of(Cursor& cursor) {
  std::int64_t sum = 0;
  for (;;) {
    auto part = cursor.next();
    EXPECT_TRUE(part) << part.error().message;
    if (!part || part->rows.empty()) return sum;
    for (const auto& row : part->rows) sum += std::get<std::int64_t>(row[0].data);
  }
}

TEST_F(CursorTest, SeveralAreOpenAtATime) {
  auto first = ask("SELECT i FROM t");
  auto second = ask("SELECT i, s FROM t WHERE i < $1", {std::int64_t{10}});
  ASSERT_TRUE(first);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->columns().value(), (std::vector<std::string>{"i", "s"}));
  ASSERT_TRUE(first->next());
  EXPECT_EQ(sum_of(*second), 45);
  ASSERT_TRUE(connection_->query("SELECT count(*) FROM t"));
  auto again = ask("SELECT i FROM t");
  EXPECT_EQ(sum_of(*again), 5000 * 4999 / 2);
  EXPECT_EQ(sum_of(*first), 5000 * 4999 / 2 - 2048 * 2047 / 2);
}

TEST_F(CursorTest, ColumnsAreKnownBeforeTheFirstRow) {
  auto plain = ask("SELECT i, s AS text, 1 + 1 FROM t");
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->columns().value(), (std::vector<std::string>{"i", "text", "(1 + 1)"}));
  EXPECT_EQ(sum_of(*plain), 5000 * 4999 / 2);
}

TEST_F(CursorTest, OnlyWhatSelectsIsOpened) {
  for (const char* sql : {"DROP TABLE t", "SELECT 1; SELECT 2", "COPY t TO '/tmp/x'", "SELEKT", "",
                          "SELECT * FROM read_csv('/etc/passwd')", "SELECT nothing FROM t"}) {
    auto cursor = ask(sql);
    const bool refused = !cursor || !cursor->next();
    EXPECT_TRUE(refused) << sql;
  }
  EXPECT_FALSE(ask("SELECT $1"));
}

TEST_F(CursorTest, AnErrorWhileRunningIsTold) {
  auto cursor = ask("SELECT CAST(s || 'x' AS INTEGER) FROM t");
  ASSERT_TRUE(cursor);
  const auto rows = cursor->next();
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().message.find('\n'), std::string::npos);
}

TEST_F(CursorTest, GoesOutAsArrowColumns) {
  auto cursor = ask("SELECT i, CASE WHEN i % 2 = 0 THEN s END AS s FROM t");
  ASSERT_TRUE(cursor);
  ArrowArrayStream stream{};
  Cursor::into_arrow(std::move(cursor).value(), stream);
  ArrowSchema schema{};
  ASSERT_EQ(stream.get_schema(&stream, &schema), 0);
  ASSERT_EQ(schema.n_children, 2);
  EXPECT_STREQ(schema.children[0]->format, "l");
  EXPECT_STREQ(schema.children[1]->name, "s");
  schema.release(&schema);
  std::int64_t rows = 0;
  std::int64_t sum = 0;
  for (;;) {
    ArrowArray array{};
    ASSERT_EQ(stream.get_next(&stream, &array), 0);
    if (array.release == nullptr) break;
    rows += array.length;
    const auto* values = static_cast<const std::int64_t*>(array.children[0]->buffers[1]);
    sum = std::accumulate(values, values + array.length, sum);
    EXPECT_EQ(array.children[1]->null_count, array.length / 2);
    array.release(&array);
  }
  EXPECT_EQ(rows, 5000);
  EXPECT_EQ(sum, 5000 * 4999 / 2);
  EXPECT_EQ(stream.get_last_error(&stream), nullptr);
  stream.release(&stream);
  EXPECT_EQ(stream.release, nullptr);
}

TEST_F(CursorTest, TheArrowStreamTellsItsErrorInOneLine) {
  auto cursor = ask("SELECT CAST(s || 'x' AS INTEGER) FROM t");
  ASSERT_TRUE(cursor);
  ArrowArrayStream stream{};
  Cursor::into_arrow(std::move(cursor).value(), stream);
  ArrowArray array{};
  EXPECT_NE(stream.get_next(&stream, &array), 0);
  ASSERT_NE(stream.get_last_error(&stream), nullptr);
  EXPECT_EQ(std::strchr(stream.get_last_error(&stream), '\n'), nullptr);
  stream.release(&stream);
}

}  // namespace
}  // namespace fathom::sql
