// SPDX-License-Identifier: MIT
// Gives each column the narrowest kind that all its values fit into: whole numbers, floating point,
// or text. Lists and objects become JSON in text.
#include "cli/fleet/table_parquet.h"

#include <deque>
#include <string_view>
#include <vector>

#include "render/json_writer.h"
#include "sql/parquet_writer.h"

namespace fathom::cli {
namespace {

using sql::ColumnKind;

ColumnKind kind_of(const Value& value) {
  if (std::holds_alternative<std::int64_t>(value.data)) return ColumnKind::kInt64;
  if (std::holds_alternative<double>(value.data) ||
      std::holds_alternative<std::uint64_t>(value.data))
    return ColumnKind::kDouble;
  return ColumnKind::kText;
}

// The kind that all values of a column fit into.
ColumnKind kind_of_column(const Table& table, std::size_t column) {
  bool any = false, doubles = false;
  for (const std::vector<Value>& row : table.rows) {
    if (row[column].is_null()) continue;
    any = true;
    const ColumnKind kind = kind_of(row[column]);
    if (kind == ColumnKind::kText) return kind;
    doubles = doubles || kind == ColumnKind::kDouble;
  }
  if (!any) return ColumnKind::kText;
  return doubles ? ColumnKind::kDouble : ColumnKind::kInt64;
}

double number_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value.data))
    return static_cast<double>(*whole);
  if (const auto* large = std::get_if<std::uint64_t>(&value.data))
    return static_cast<double>(*large);
  return std::get<double>(value.data);
}

std::string text_of(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value.data)) return *text;
  std::string json;
  render::JsonWriter(json).value(value);
  return json;
}

// One column with the memory that its data points to.
struct Held {
  std::vector<std::int64_t> int64s;
  std::vector<double> doubles;
  std::deque<std::string> texts;
  std::vector<std::string_view> views;
  std::vector<std::uint8_t> valid;

  void add(const Value& value, ColumnKind kind) {
    const bool is_null = value.is_null();
    valid.push_back(is_null ? 0 : 1);
    if (kind == ColumnKind::kInt64) {
      int64s.push_back(is_null ? 0 : std::get<std::int64_t>(value.data));
    } else if (kind == ColumnKind::kDouble) {
      doubles.push_back(is_null ? 0 : number_of(value));
    } else {
      views.emplace_back(texts.emplace_back(is_null ? "" : text_of(value)));
    }
  }
  [[nodiscard]] sql::ColumnData data() const {
    return {.int64s = int64s, .doubles = doubles, .texts = views, .valid = valid};
  }
};

}  // namespace

Status write_table_parquet(const std::string& path, const Table& table) {
  std::vector<sql::ColumnDef> columns;
  std::vector<Held> held(table.columns.size());
  std::vector<sql::ColumnData> data;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const ColumnKind kind = kind_of_column(table, i);
    columns.push_back({.name = table.columns[i].name, .kind = kind});
    for (const std::vector<Value>& row : table.rows) held[i].add(row[i], kind);
    data.push_back(held[i].data());
  }
  return sql::write_parquet(path, {.columns = columns, .data = data, .rows = table.rows.size()});
}

}  // namespace fathom::cli
