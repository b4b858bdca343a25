// SPDX-License-Identifier: MIT
// Checks a batch before DuckDB or the Parquet writer sees it. Both trust offsets and codes, and a
// wrong one would be read out of bounds.
#include "sql/columns.h"

#include <algorithm>

namespace fathom::sql {
namespace {

bool codes_are_per_row(ColumnKind kind) { return kind != ColumnKind::kTextMap; }

template <class T>
std::span<const T> part(std::span<const T> values, std::size_t begin, std::size_t count) {
  const std::size_t from = std::min(begin, values.size());
  return values.subspan(from, std::min(count, values.size() - from));
}

bool lie_inside(std::span<const std::uint32_t> codes, std::size_t dictionary) {
  return std::ranges::all_of(
      codes, [=](std::uint32_t code) { return code < dictionary || code == kNullCode; });
}

// What is wrong with the offsets of a list or a map whose items are so many; "" if nothing is.
std::string offset_damage(const ColumnData& data, std::size_t items, std::size_t rows) {
  if (data.offsets.size() < rows + 1) return "too few offsets";
  const auto offsets = data.offsets.first(rows + 1);
  if (!std::is_sorted(offsets.begin(), offsets.end())) return "offsets go back";
  return offsets.back() > items ? "offsets beyond the items" : "";
}

std::string map_damage(const ColumnDef& column, const ColumnData& data, std::size_t rows) {
  const std::size_t items = std::min(data.codes.size(), data.texts.size());
  if (std::string damage = offset_damage(data, items, rows); !damage.empty()) return damage;
  const auto keys = data.codes.subspan(data.offsets[0], data.offsets[rows] - data.offsets[0]);
  if (!lie_inside(keys, column.dictionary.size())) return "a code lies outside the dictionary";
  return std::ranges::find(keys, kNullCode) != keys.end() ? "a key is NULL" : "";
}

std::string damage_of(const ColumnDef& column, const ColumnData& data, std::size_t rows) {
  if (!data.valid.empty() && data.valid.size() < rows) return "too few validity bytes";
  switch (column.kind) {
    case ColumnKind::kInt64:
      return data.int64s.size() < rows ? "too few values" : "";
    case ColumnKind::kInt32:
      return data.int32s.size() < rows ? "too few values" : "";
    case ColumnKind::kDouble:
      return data.doubles.size() < rows ? "too few values" : "";
    case ColumnKind::kText:
      return data.texts.size() < rows ? "too few texts" : "";
    case ColumnKind::kDictionary:
      if (data.codes.size() < rows) return "too few codes";
      return lie_inside(data.codes.first(rows), column.dictionary.size())
                 ? ""
                 : "a code lies outside the dictionary";
    case ColumnKind::kInt64List:
      return offset_damage(data, data.int64s.size(), rows);
    case ColumnKind::kTextMap:
      return map_damage(column, data, rows);
  }
  return "";
}

}  // namespace

bool has_values(ColumnKind kind, const ColumnData& data) {
  switch (kind) {
    case ColumnKind::kInt64:
      return !data.int64s.empty();
    case ColumnKind::kInt32:
      return !data.int32s.empty();
    case ColumnKind::kDouble:
      return !data.doubles.empty();
    case ColumnKind::kDictionary:
      return !data.codes.empty();
    case ColumnKind::kText:
      return !data.texts.empty();
    case ColumnKind::kInt64List:
    case ColumnKind::kTextMap:
      return !data.offsets.empty();
  }
  return false;
}

Status check_fit(const ColumnDef& column, const ColumnData& data, std::size_t rows) {
  if (!has_values(column.kind, data)) return {};
  const std::string damage = damage_of(column, data, rows);
  if (damage.empty()) return {};
  return Error{Code::kInvalid, "column " + column.name + ": " + damage, ""};
}

ColumnData rows_of(ColumnKind kind, const ColumnData& all, std::size_t begin, std::size_t count) {
  ColumnData data = all;
  if (kind != ColumnKind::kInt64List) data.int64s = part(all.int64s, begin, count);
  data.int32s = part(all.int32s, begin, count);
  data.doubles = part(all.doubles, begin, count);
  if (codes_are_per_row(kind)) data.codes = part(all.codes, begin, count);
  if (codes_are_per_row(kind)) data.texts = part(all.texts, begin, count);
  data.offsets = part(all.offsets, begin, count + 1);
  data.valid = part(all.valid, begin, count);
  return data;
}

}  // namespace fathom::sql
