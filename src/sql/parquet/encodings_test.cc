// SPDX-License-Identifier: MIT
// What we write, DuckDB reads: every encoding at the sizes where it changes its mind.
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <functional>
#include <limits>
#include <random>

#include "sql/parquet_writer.h"
#include "sql/quote.h"

namespace fathom::sql::parquet {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

class Encodings : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "fathom_encodings.parquet";
    auto database = Database::open_memory({.threads = 1});
    ASSERT_TRUE(database) << database.error().message;
    connection_.emplace(Connection::open(*database).value());
  }
  void TearDown() override { fs::remove(path_); }

  Table ask(const std::string& sql) {
    const auto table = connection_->query(sql);
    EXPECT_TRUE(table) << table.error().message;
    return table ? *table : Table{};
  }
  std::string file() const { return quote_literal(path_); }

  Table round_trip(const ColumnDef& column, const ColumnData& data, std::size_t rows,
                   std::size_t row_group_size = 122880) {
    const Status written =
        write_parquet(path_, {{&column, 1}, {&data, 1}, rows}, {.row_group_size = row_group_size});
    EXPECT_TRUE(written) << written.error().message;
    return ask("FROM read_parquet(" + file() + ")");
  }

  // The same numbers, a tenth of them NULL, in both widths.
  void expect_numbers(const std::vector<std::int64_t>& values) {
    std::vector<std::uint8_t> valid(values.size());
    for (std::size_t i = 0; i < valid.size(); ++i) valid[i] = i % 10 == 7 ? 0 : 1;
    std::vector<std::int32_t> narrow(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      narrow[i] = static_cast<std::int32_t>(values[i]);
    const auto wide_table =
        round_trip({"n", ColumnKind::kInt64}, {.int64s = values}, values.size());
    const auto narrow_table =
        round_trip({"n", ColumnKind::kInt32}, {.int32s = narrow}, values.size());
    const auto null_table = round_trip({"n", ColumnKind::kInt64},
                                       {.int64s = values, .valid = valid}, values.size(), 1000);
    ASSERT_EQ(wide_table.rows.size(), values.size());
    ASSERT_EQ(narrow_table.rows.size(), values.size());
    ASSERT_EQ(null_table.rows.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(std::get<std::int64_t>(wide_table.rows[i][0].data), values[i]) << i;
      ASSERT_EQ(std::get<std::int64_t>(narrow_table.rows[i][0].data), narrow[i]) << i;
      ASSERT_EQ(null_table.rows[i][0].is_null(), valid[i] == 0) << i;
      if (valid[i] == 0) continue;
      ASSERT_EQ(std::get<std::int64_t>(null_table.rows[i][0].data), values[i]) << i;
    }
  }

  std::string path_;
  std::optional<Connection> connection_;
};

TEST_F(Encodings, NumbersOfEveryShapeComeBack) {
  std::mt19937_64 random(1);
  const std::function<std::int64_t(std::int64_t)> shapes[] = {
      [](std::int64_t) { return -5; },                         // constant
      [](std::int64_t i) { return i * 4096; },                 // rising evenly
      [](std::int64_t i) { return -i * i; },                   // falling
      [](std::int64_t i) { return i / 100; },                  // runs
      [](std::int64_t i) { return i % 9; },                    // few, no runs
      [](std::int64_t i) { return i % 40 < 20 ? 1 : i % 7; },  // runs and none
      [&](std::int64_t) { return static_cast<std::int64_t>(random()); },
      [&](std::int64_t i) {
        return i % 2 == 0 ? kLowest : kHighest - static_cast<int>(random() % 3);
      },
      [&](std::int64_t i) { return 1'000'000 * i + static_cast<std::int64_t>(random() % 1000); },
  };
  for (const auto& shape : shapes) {
    for (const std::int64_t count : {1, 2, 7, 8, 9, 31, 32, 33, 34, 256, 257, 258, 513, 5000}) {
      std::vector<std::int64_t> values;
      for (std::int64_t i = 0; i < count; ++i) values.push_back(shape(i));
      ASSERT_NO_FATAL_FAILURE(expect_numbers(values)) << count;
    }
  }
}

TEST_F(Encodings, ADictionaryOfNumbersMayHaveAnyWidthUntilItIsGivenUp) {
  for (const std::int64_t distinct : {2, 3, 255, 256, 257, 1023, 4097, 16384, 16385, 40000}) {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < 4 * distinct; ++i)
      values.push_back(i * 7919 % distinct * 1'000'003);
    const Table table = round_trip({"n", ColumnKind::kInt64}, {.int64s = values}, values.size());
    ASSERT_EQ(table.rows.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(std::get<std::int64_t>(table.rows[i][0].data), values[i]) << distinct;
  }
}

TEST_F(Encodings, DoublesKeepTheirBits) {
  std::vector<double> values{0.0,
                             -0.0,
                             1e-320,
                             1e308,
                             -1.5,
                             std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()};
  for (int i = 0; i < 5000; ++i) values.push_back(i / 3.0);  // too many for a dictionary
  for (const std::size_t count : {std::size_t{7}, values.size()}) {
    const std::span<const double> some(values.data(), count);
    const Table table = round_trip({"d", ColumnKind::kDouble}, {.doubles = some}, count);
    ASSERT_EQ(table.rows.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      const double back = std::get<double>(table.rows[i][0].data);
      ASSERT_EQ(std::bit_cast<std::uint64_t>(back), std::bit_cast<std::uint64_t>(some[i]));
    }
  }
}

TEST_F(Encodings, TextsThatRepeatAndTextsThatDoNot) {
  for (const std::size_t distinct : {1U, 3U, 1000U, 9000U}) {
    std::vector<std::string> storage;
    for (std::size_t i = 0; i < 9000; ++i) {
      const std::size_t which = i % distinct;
      storage.push_back(which % 11 == 3 ? ""
                                        : std::string(which % 50, 'x') + std::to_string(which));
    }
    storage[5] = "\xffraw";
    const std::vector<std::string_view> texts(storage.begin(), storage.end());
    const Table table = round_trip({"t", ColumnKind::kText}, {.texts = texts}, texts.size());
    ASSERT_EQ(table.rows.size(), texts.size());
    storage[5] = "\\xffraw";
    for (std::size_t i = 0; i < storage.size(); ++i)
      ASSERT_EQ(std::get<std::string>(table.rows[i][0].data), storage[i]) << i;
  }
}

TEST_F(Encodings, ListsAndMapsKeepTheirShapesAcrossRowGroups) {
  std::mt19937 random(2);
  std::vector<std::int64_t> items;
  std::vector<std::uint32_t> keys;
  std::vector<std::string> value_storage;
  std::vector<std::uint32_t> offsets{0};
  std::vector<std::uint8_t> valid;
  const std::string_view names[] = {"a", "unused", "b"};
  for (int row = 0; row < 5000; ++row) {
    for (unsigned i = random() % 4; i > 0; --i) {
      items.push_back(static_cast<std::int64_t>(random()) - 7);
      keys.push_back(i % 2 == 0 ? 0 : 2);
      value_storage.push_back("v" + std::to_string(random() % 100));
    }
    offsets.push_back(static_cast<std::uint32_t>(items.size()));
    valid.push_back(random() % 5 == 0 ? 0 : 1);  // items of a NULL row are not written
  }
  const std::vector<std::string_view> values(value_storage.begin(), value_storage.end());
  const ColumnDef columns[] = {{"l", ColumnKind::kInt64List}, {"m", ColumnKind::kTextMap, names}};
  const ColumnData data[] = {{.int64s = items, .offsets = offsets, .valid = valid},
                             {.codes = keys, .texts = values, .offsets = offsets, .valid = valid}};
  ASSERT_TRUE(write_parquet(path_, {columns, data, valid.size()}, {.row_group_size = 777}));
  const Table table = ask("SELECT l, map_keys(m), map_values(m) FROM read_parquet(" + file() + ")");
  ASSERT_EQ(table.rows.size(), valid.size());
  for (std::size_t row = 0; row < valid.size(); ++row) {
    const auto& cells = table.rows[row];
    ASSERT_EQ(cells[0].is_null(), valid[row] == 0);
    if (valid[row] == 0) continue;
    const List& list = std::get<List>(cells[0].data);
    ASSERT_EQ(list.size(), offsets[row + 1] - offsets[row]);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::size_t at = offsets[row] + i;
      ASSERT_EQ(std::get<std::int64_t>(list[i].data), items[at]);
      ASSERT_EQ(std::get<std::string>(std::get<List>(cells[1].data)[i].data), names[keys[at]]);
      ASSERT_EQ(std::get<std::string>(std::get<List>(cells[2].data)[i].data), values[at]);
    }
  }
}

TEST_F(Encodings, BoundsAndCountsOfEachRowGroupStandInTheFooter) {
  std::vector<std::int64_t> numbers;
  std::vector<std::uint32_t> codes;
  for (std::int64_t i = 0; i < 3000; ++i) {
    numbers.push_back(i - 1500);
    codes.push_back(i % 3 == 0 ? kNullCode : static_cast<std::uint32_t>(i / 1000));
  }
  const std::string_view names[] = {"open", "read", "write"};
  const ColumnDef columns[] = {{"n", ColumnKind::kInt64}, {"s", ColumnKind::kDictionary, names}};
  const ColumnData data[] = {{.int64s = numbers}, {.codes = codes}};
  ASSERT_TRUE(write_parquet(path_, {columns, data, 3000}, {.row_group_size = 1000}));
  const Table table =
      ask("SELECT string_agg(concat_ws('|', row_group_id, path_in_schema, stats_min_value, "
          "stats_max_value, stats_null_count, num_values), ' ' ORDER BY row_group_id, column_id) "
          "FROM parquet_metadata(" +
          file() + ")");
  EXPECT_EQ(std::get<std::string>(table.rows[0][0].data),
            "0|n|-1500|-501|0|1000 0|s|open|open|334|1000 "
            "1|n|-500|499|0|1000 1|s|read|read|333|1000 "
            "2|n|500|1499|0|1000 2|s|write|write|333|1000");
}

TEST_F(Encodings, LongTextsMakeShortRowGroups) {
  const std::string megabyte(1 << 20, 'x');
  std::vector<std::string> storage;
  for (int i = 0; i < 150; ++i) storage.push_back(megabyte + std::to_string(i));
  const std::vector<std::string_view> texts(storage.begin(), storage.end());
  const ColumnDef column{"t", ColumnKind::kText};
  const ColumnData data{.texts = texts};
  ASSERT_TRUE(write_parquet(path_, {{&column, 1}, {&data, 1}, texts.size()}));
  const Table groups =
      ask("SELECT num_row_groups, num_rows FROM parquet_file_metadata(" + file() + ")");
  EXPECT_EQ(std::get<std::int64_t>(groups.rows[0][0].data), 3);
  EXPECT_EQ(std::get<std::int64_t>(groups.rows[0][1].data), 150);
  const Table sum = ask("SELECT sum(len(t))::BIGINT FROM read_parquet(" + file() + ")");
  EXPECT_EQ(std::get<std::int64_t>(sum.rows[0][0].data), 150 * ((1 << 20) + 2) + 50 - 10);
}

}  // namespace
}  // namespace fathom::sql::parquet
