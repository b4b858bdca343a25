// SPDX-License-Identifier: MIT
// Rows of a view into one Parquet file. The recording's database is closed against everything else,
// so a second one writes: a thread reads rows from the first while this one hands them to the
// other.
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

#include "analysis/contract.h"
#include "cli/row_cells.h"
#include "cli/store_stream.h"
#include "sql/connection.h"
#include "sql/database.h"
#include "sql/parquet_writer.h"

namespace fathom::cli {
namespace {

// One table at a time from the thread that makes them to the one that takes them.
class Handoff {
 public:
  // Waits until the table before is taken. False: nobody takes any more.
  bool put(const Table& table) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !table_ || closed_; });
    if (closed_) return false;
    table_ = table;
    changed_.notify_all();
    return true;
  }
  // Nothing: there are no more.
  std::optional<Table> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return table_ || closed_; });
    std::optional<Table> table = std::exchange(table_, std::nullopt);
    changed_.notify_all();
    return table;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Table> table_;
  bool closed_ = false;
};

// The values of one column, as the writer takes them.
struct Column {
  std::vector<std::int64_t> int64s;
  std::vector<std::int32_t> int32s;
  std::vector<double> doubles;
  std::vector<std::uint32_t> codes;
  std::vector<std::string_view> texts;
  std::vector<std::uint32_t> offsets;
  std::vector<std::uint8_t> valid;

  void clear() {
    int64s.clear();
    int32s.clear();
    doubles.clear();
    codes.clear();
    texts.clear();
    offsets.assign(1, 0);
    valid.clear();
  }
};

sql::ColumnKind kind_of(std::string_view type) {
  using enum sql::ColumnKind;
  if (type == "BIGINT") return kInt64;
  if (type == "INTEGER") return kInt32;
  if (type == "DOUBLE") return kDouble;
  if (type == "BIGINT[]") return kInt64List;
  return type == "VARCHAR" ? kText : kTextMap;
}

class ParquetRows {
 public:
  ParquetRows(const analysis::ViewSpec& view, std::vector<std::string> keys)
      : keys_(std::move(keys)), columns_(view.columns.size()) {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      key_views_.push_back(keys_[i]);
      key_codes_.emplace(keys_[i], static_cast<std::uint32_t>(i));
    }
    for (const analysis::ColumnSpec& column : view.columns) {
      const sql::ColumnKind kind = kind_of(column.type);
      defs_.push_back({.name = std::string(column.name), .kind = kind});
      if (kind == sql::ColumnKind::kTextMap) defs_.back().dictionary = key_views_;
    }
  }

  [[nodiscard]] const std::vector<sql::ColumnDef>& defs() const { return defs_; }

  // The next rows of a table; they stay until the next call.
  std::size_t fill(const Table& table, std::size_t from, std::size_t most,
                   std::span<sql::ColumnData> data) {
    const std::size_t rows = std::min(most, table.rows.size() - from);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      columns_[c].clear();
      for (std::size_t row = from; row < from + rows; ++row)
        push(columns_[c], defs_[c].kind, table.rows[row][c]);
      data[c] = data_of(columns_[c], defs_[c].kind);
    }
    return rows;
  }

 private:
  void push(Column& column, sql::ColumnKind kind, const Value& cell) {
    using enum sql::ColumnKind;
    const auto* const number = std::get_if<std::int64_t>(&cell.data);
    const auto* const real = std::get_if<double>(&cell.data);
    const auto* const text = std::get_if<std::string>(&cell.data);
    column.valid.push_back(cell.is_null() ? 0 : 1);
    if (kind == kInt64) column.int64s.push_back(number == nullptr ? 0 : *number);
    if (kind == kInt32)
      column.int32s.push_back(number == nullptr ? 0 : static_cast<std::int32_t>(*number));
    if (kind == kDouble) column.doubles.push_back(real == nullptr ? 0 : *real);
    if (kind == kText) column.texts.emplace_back(text == nullptr ? std::string_view() : *text);
    if (kind == kInt64List) push_list(column, cell);
    if (kind == kTextMap) push_map(column, cell);
  }

  static void push_list(Column& column, const Value& cell) {
    if (const auto* const list = std::get_if<List>(&cell.data)) {
      for (const Value& item : *list) {
        const auto* const number = std::get_if<std::int64_t>(&item.data);
        column.int64s.push_back(number == nullptr ? 0 : *number);
      }
    }
    column.offsets.push_back(static_cast<std::uint32_t>(column.int64s.size()));
  }

  void push_map(Column& column, const Value& cell) {
    if (const auto* const object = std::get_if<Object>(&cell.data)) {
      for (const auto& [key, value] : *object) {
        const auto code = key_codes_.find(key);
        const auto* const text = std::get_if<std::string>(&value.data);
        if (code == key_codes_.end() || text == nullptr) continue;
        column.codes.push_back(code->second);
        column.texts.push_back(*text);
      }
    }
    column.offsets.push_back(static_cast<std::uint32_t>(column.codes.size()));
  }

  static sql::ColumnData data_of(const Column& column, sql::ColumnKind kind) {
    using enum sql::ColumnKind;
    sql::ColumnData data{.int64s = column.int64s,
                         .int32s = column.int32s,
                         .doubles = column.doubles,
                         .codes = column.codes,
                         .texts = column.texts,
                         .valid = column.valid};
    const bool nested = kind == kInt64List || kind == kTextMap;
    const bool no_item = column.int64s.empty() && column.codes.empty();
    if (nested && no_item) return {};  // NULL throughout
    if (nested) data.offsets = column.offsets;
    return data;
  }

  std::vector<std::string> keys_;
  std::vector<std::string_view> key_views_;
  std::unordered_map<std::string, std::uint32_t> key_codes_;
  std::vector<sql::ColumnDef> defs_;
  std::vector<Column> columns_;
};

Result<const analysis::ViewSpec*> contract_of(std::string_view name) {
  for (const analysis::ViewSpec& view : analysis::recorded_views()) {
    if (view.name == name) return &view;
  }
  return usage_error("no table '" + std::string(name) + "'", "");
}

// Keys of a MAP column must be known before the first row.
Result<std::vector<std::string>> keys_of(analysis::Store& store, const analysis::ViewSpec& view,
                                         const std::string& where) {
  std::vector<std::string> keys;
  for (const analysis::ColumnSpec& column : view.columns) {
    if (!column.type.starts_with("MAP")) continue;
    const std::string sql = "SELECT DISTINCT unnest(map_keys(" + std::string(column.name) +
                            ")) AS k FROM " + std::string(view.name) + where + " ORDER BY k";
    FATHOM_TRY(each_row(store, sql, [&](RowCells cells) -> Status {
      keys.emplace_back(cells.text());
      return {};
    }));
  }
  return keys;
}

Status write_rows(const std::string& path, ParquetRows& rows, Handoff& handoff) {
  FATHOM_ASSIGN(const sql::Database database, sql::Database::open_memory({.threads = 1}));
  FATHOM_ASSIGN(sql::Connection connection, sql::Connection::open(database));
  std::optional<Table> table;
  std::size_t used = 0;
  return sql::write_parquet(
      connection, path, rows.defs(),
      [&](std::span<sql::ColumnData> data, std::size_t most) -> Result<std::size_t> {
        while (!table || used == table->rows.size()) {
          table = handoff.take();
          used = 0;
          if (!table) return std::size_t{0};
        }
        const std::size_t got = rows.fill(*table, used, most, data);
        used += got;
        return got;
      });
}

}  // namespace

Status StoreStream::write_parquet(const std::string& path) {
  FATHOM_ASSIGN(const FilteredView filtered, find_filtered_view(filter_.table));
  FATHOM_ASSIGN(const analysis::ViewSpec* const view, contract_of(filtered.name));
  FATHOM_ASSIGN(std::vector<std::string> keys,
                keys_of(*store_, *view, where_sql(filtered, filter_)));
  ParquetRows rows(*view, std::move(keys));
  Handoff handoff;
  Status read;
  std::jthread reader([&] {
    read = table([&](const Table& part) -> Status {
      if (handoff.put(part)) return {};
      return Error{Code::kIo, "the file could not be written", ""};
    });
    handoff.close();
  });
  Status written = write_rows(path, rows, handoff);
  handoff.close();
  reader.join();
  FATHOM_TRY(std::move(written));
  return read;
}

}  // namespace fathom::cli
