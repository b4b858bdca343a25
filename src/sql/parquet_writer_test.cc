// SPDX-License-Identifier: MIT
#include "sql/parquet_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "sql/quote.h"

namespace fathom::sql {
namespace {

namespace fs = std::filesystem;

class ParquetWriter : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "fathom_parquet_writer";
    fs::remove_all(root_);
    fs::create_directories(root_);
    path_ = root_ + "/it's a table.parquet";
    auto database = Database::open_memory({.threads = 1});
    ASSERT_TRUE(database) << database.error().message;
    connection_.emplace(Connection::open(*database).value());
  }
  void TearDown() override { fs::remove_all(root_); }

  // The first row's values, as DuckDB writes them, joined by '|'.
  std::string ask(const std::string& select) {
    const auto table = connection_->query("SELECT concat_ws('|', " + select +
                                          ") FROM read_parquet(" + quote_literal(path_) + ")");
    EXPECT_TRUE(table) << table.error().message;
    if (!table || table->rows.empty()) return "";
    return std::get<std::string>(table->rows[0][0].data);
  }
  void expect_no_leftover() {
    for (const auto& entry : fs::directory_iterator(root_)) EXPECT_EQ(entry.path().string(), path_);
  }

  std::string root_;
  std::string path_;
  std::optional<Connection> connection_;
};

TEST_F(ParquetWriter, AHundredThousandRowsOfEveryKindComeBack) {
  constexpr std::size_t kRows = 100'000;
  const std::string_view names[] = {"read", "write", "unused", "open"};
  const std::string_view keys[] = {"flags", "mode"};
  std::vector<std::int64_t> ts(kRows);
  std::iota(ts.begin(), ts.end(), std::int64_t{1'000'000'000'000});
  std::vector<std::int32_t> fd(kRows);
  std::vector<double> load(kRows);
  std::vector<std::uint32_t> name(kRows);
  std::vector<std::string> text_storage(kRows);
  std::vector<std::string_view> text(kRows);
  std::vector<std::uint8_t> odd(kRows);
  std::vector<std::int64_t> items;
  std::vector<std::uint32_t> item_offsets{0};
  std::vector<std::uint32_t> arg_keys;
  std::vector<std::string_view> arg_texts;
  std::vector<std::uint32_t> arg_offsets{0};
  for (std::size_t i = 0; i < kRows; ++i) {
    fd[i] = static_cast<std::int32_t>(i % 7);
    load[i] = static_cast<double>(i) / 4;
    name[i] = i % 5 == 4 ? kNullCode : (i % 2 == 0 ? 0U : 3U);
    text_storage[i] = "text number " + std::to_string(i);
    text[i] = text_storage[i];
    odd[i] = i % 2;
    for (std::size_t k = 0; k < i % 3; ++k) items.push_back(static_cast<std::int64_t>(i));
    item_offsets.push_back(static_cast<std::uint32_t>(items.size()));
    if (i % 2 == 1) {
      arg_keys.push_back(i % 4 == 1 ? 0 : 1);
      arg_texts.push_back(text[i]);
    }
    arg_offsets.push_back(static_cast<std::uint32_t>(arg_keys.size()));
  }
  const ColumnDef columns[] = {
      {"ts", ColumnKind::kInt64},           {"fd", ColumnKind::kInt32},
      {"load", ColumnKind::kDouble},        {"name", ColumnKind::kDictionary, names},
      {"text", ColumnKind::kText},          {"hist", ColumnKind::kInt64List},
      {"args", ColumnKind::kTextMap, keys}, {"offset", ColumnKind::kInt64},
      {"rank", ColumnKind::kInt32}};
  const ColumnData data[] = {
      {.int64s = ts},
      {.int32s = fd},
      {.doubles = load},
      {.codes = name},
      {.texts = text},
      {.int64s = items, .offsets = item_offsets},
      {.codes = arg_keys, .texts = arg_texts, .offsets = arg_offsets, .valid = odd},
      {.int64s = ts, .valid = odd},
      {}};
  const Status written = write_parquet(path_, {columns, data, kRows});
  ASSERT_TRUE(written) << written.error().message;
  expect_no_leftover();

  EXPECT_EQ(ask("count(*), min(ts), max(ts), sum(fd), sum(load)"),
            "100000|1000000000000|1000000099999|299995|1249987500.0");
  EXPECT_EQ(ask("count(name), count(*) FILTER (name = 'read'), count(*) FILTER (name = 'open')"),
            "80000|40000|40000");
  EXPECT_EQ(ask("count(*) FILTER (text = 'text number ' || (ts - 1000000000000))"), "100000");
  EXPECT_EQ(
      ask("sum(len(hist)), count(*) FILTER (list_sum(hist) = len(hist) * (ts - 1000000000000))"),
      "99999|66666");
  EXPECT_EQ(ask("count(args), count(*) FILTER (args['flags'] = text), count(*) FILTER "
                "(args['mode'] = text)"),
            "50000|25000|25000");
  EXPECT_EQ(ask("count(\"offset\"), count(*) FILTER (\"offset\" = ts), count(rank)"),
            "50000|50000|0");
  EXPECT_EQ(ask("typeof(any_value(name)), typeof(any_value(args)), typeof(any_value(hist)), "
                "typeof(any_value(rank))"),
            "VARCHAR|MAP(VARCHAR, VARCHAR)|BIGINT[]|INTEGER");
  // Rows keep their order: row groups are per thread in time order.
  const auto first =
      connection_->query("SELECT ts FROM read_parquet(" + quote_literal(path_) + ") LIMIT 1");
  EXPECT_EQ(std::get<std::int64_t>(first->rows[0][0].data), 1'000'000'000'000);
}

TEST_F(ParquetWriter, DictionariesOfEverySizeWork) {
  for (const std::size_t size : {1U, 255U, 256U, 257U, 65'535U, 65'536U, 65'537U, 70'000U}) {
    std::vector<std::string> storage(size);
    for (std::size_t i = 0; i < size; ++i) storage[i] = "/data/file." + std::to_string(i);
    const std::vector<std::string_view> texts(storage.begin(), storage.end());
    std::vector<std::uint32_t> codes(size);
    std::iota(codes.begin(), codes.end(), 0U);
    std::vector<std::int64_t> numbers(codes.begin(), codes.end());
    codes.push_back(kNullCode);
    numbers.push_back(-1);
    const ColumnDef columns[] = {{"file", ColumnKind::kDictionary, texts},
                                 {"n", ColumnKind::kInt64}};
    const ColumnData data[] = {{.codes = codes}, {.int64s = numbers}};
    const Status written = write_parquet(path_, {columns, data, codes.size()});
    ASSERT_TRUE(written) << size << ": " << written.error().message;
    const std::string want = std::to_string(size);
    EXPECT_EQ(ask("count(DISTINCT file)"), want);
    EXPECT_EQ(ask("count(*) FILTER (file = '/data/file.' || n)"), want);
    EXPECT_EQ(ask("count(*) FILTER (file IS NULL)"), "1");
  }
}

TEST_F(ParquetWriter, NothingAndNullsAreTablesToo) {
  const std::string_view texts[] = {"a", "b"};
  const ColumnDef columns[] = {{"n", ColumnKind::kInt64},
                               {"i", ColumnKind::kInt32},
                               {"d", ColumnKind::kDouble},
                               {"empty", ColumnKind::kDictionary},
                               {"few", ColumnKind::kDictionary, texts},
                               {"t", ColumnKind::kText},
                               {"l", ColumnKind::kInt64List},
                               {"m", ColumnKind::kTextMap},
                               {"mk", ColumnKind::kTextMap, texts}};
  const std::uint32_t nulls[] = {kNullCode, kNullCode, kNullCode};
  for (const bool explicit_codes : {false, true}) {
    for (const std::size_t rows : {0U, 3U}) {
      std::vector<ColumnData> data(std::size(columns));
      if (explicit_codes) data[3].codes = data[4].codes = nulls;
      const Status written = write_parquet(path_, {columns, data, rows});
      ASSERT_TRUE(written) << written.error().message;
      EXPECT_EQ(ask("count(*), count(n), count(i), count(d), count(empty), count(few), count(t), "
                    "count(l), count(m), count(mk)"),
                std::to_string(rows) + "|0|0|0|0|0|0|0|0|0");
      EXPECT_EQ(
          connection_->query("FROM read_parquet(" + quote_literal(path_) + ")")->columns.size(),
          9U);
    }
  }
}

TEST_F(ParquetWriter, EmptyListsAndMapsAreNotNull) {
  const std::uint32_t offsets[] = {0, 0, 2};
  const std::int64_t items[] = {4, 5};
  const std::string_view keys[] = {"k", "l"};
  const std::uint32_t codes[] = {1, 0};
  const std::string_view texts[] = {"", "v"};
  const ColumnDef columns[] = {{"l", ColumnKind::kInt64List}, {"m", ColumnKind::kTextMap, keys}};
  const ColumnData data[] = {{.int64s = items, .offsets = offsets},
                             {.codes = codes, .texts = texts, .offsets = offsets}};
  ASSERT_TRUE(write_parquet(path_, {columns, data, 2}));
  EXPECT_EQ(ask("l, m"), "[]|{}");
  EXPECT_EQ(ask("list(l), list(m)"), "[[], [4, 5]]|[{}, {l='', k=v}]");
}

TEST_F(ParquetWriter, BytesThatAreNotTextAreEscaped) {
  const std::string_view texts[] = {"bad-\xff", "nul-\0-"};
  const std::string_view named[] = {"bad-\xfe", std::string_view("nul\0", 4)};
  const std::uint32_t codes[] = {0, 1};
  const ColumnDef columns[] = {{"t", ColumnKind::kText}, {"d", ColumnKind::kDictionary, named}};
  const ColumnData data[] = {{.texts = texts}, {.codes = codes}};
  ASSERT_TRUE(write_parquet(path_, {columns, data, 2}));
  EXPECT_EQ(ask("list(t), list(d)"), "[bad-\\xff, nul-]|[bad-\\xfe, nul\\x00]");
}

TEST_F(ParquetWriter, AFailureLeavesNoFile) {
  const ColumnDef columns[] = {{"n", ColumnKind::kInt64}};
  const std::string place = root_ + "/no/where";
  const Status nowhere = write_parquet(place, {columns, std::vector<ColumnData>(1), 1});
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, Code::kNotFound) << nowhere.error().message;
  EXPECT_TRUE(nowhere.error().message.starts_with("write " + place)) << nowhere.error().message;

  fs::create_directories(path_);  // the whole file cannot take this place
  ASSERT_FALSE(write_parquet(path_, {columns, std::vector<ColumnData>(1), 1}));
  expect_no_leftover();
}

TEST_F(ParquetWriter, AFullDiskIsToldOnce) {
  const ColumnDef columns[] = {{"n", ColumnKind::kInt64}};
  const Status full = write_parquet(File::open("/dev/full", O_WRONLY).value(),
                                    {columns, std::vector<ColumnData>(1), 0});
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().message, "write /dev/full: the disk is full (No space left on device)");
}

TEST_F(ParquetWriter, DataThatDoesNotFitIsRefused) {
  const std::string_view texts[] = {"a"};
  const std::int64_t numbers[] = {1, 2};
  const std::uint32_t codes[] = {0, 1};
  const std::uint32_t falling[] = {0, 2, 1};
  const std::uint32_t beyond[] = {0, 1, 3};
  const std::uint8_t valid[] = {1};
  struct Case {
    const char* name;
    ColumnDef column;
    ColumnData data;
    std::size_t rows;
  };
  const Case cases[] = {
      {"too few values", {"c", ColumnKind::kInt64}, {.int64s = numbers}, 3},
      {"outside the dictionary", {"c", ColumnKind::kDictionary, texts}, {.codes = codes}, 2},
      {"outside the dictionary", {"c", ColumnKind::kDictionary}, {.codes = codes}, 2},
      {"offsets go back",
       {"c", ColumnKind::kInt64List},
       {.int64s = numbers, .offsets = falling},
       2},
      {"beyond the items",
       {"c", ColumnKind::kInt64List},
       {.int64s = numbers, .offsets = beyond},
       2},
      {"too few offsets", {"c", ColumnKind::kInt64List}, {.int64s = numbers, .offsets = beyond}, 3},
      {"too few validity bytes", {"c", ColumnKind::kInt64}, {.int64s = numbers, .valid = valid}, 2},
  };
  for (const Case& c : cases) {
    const Status written = write_parquet(path_, {{&c.column, 1}, {&c.data, 1}, c.rows});
    ASSERT_FALSE(written) << c.name;
    EXPECT_NE(written.error().message.find(c.name), std::string::npos) << written.error().message;
  }
}

TEST_F(ParquetWriter, ATableIsReplacedAndSeenByOtherQueries) {
  const std::string_view texts[] = {"read", "write"};
  const std::uint32_t codes[] = {0, 1, 0};
  const ColumnDef columns[] = {{"name", ColumnKind::kDictionary, texts}};
  const ColumnData data[] = {{.codes = codes}};
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(register_table(*connection_, "odd \"name\"", {columns, data, 3}));
  const auto table = connection_->query(
      "SELECT count(*) FROM (SELECT name FROM \"odd \"\"name\"\"\" UNION ALL SELECT 'read') WHERE "
      "name = 'read'");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(std::get<std::int64_t>(table->rows[0][0].data), 3);
}

}  // namespace
}  // namespace fathom::sql
