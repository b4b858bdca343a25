// SPDX-License-Identifier: MIT
// Rows on their way into DuckDB or into a Parquet file, as columns. The caller keeps the memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::sql {

enum class ColumnKind : std::uint8_t {
  kInt64,
  kInt32,
  kDouble,
  kDictionary,  // text by its code in the column's dictionary; the fast way, and the small one
  kText,
  kInt64List,
  kTextMap,  // MAP(VARCHAR, VARCHAR), keys by their code in the column's dictionary
};

inline constexpr std::uint32_t kNullCode = 0xffffffff;

// What a column is. Dictionary texts should be distinct; equal ones are merged. Here and in plain
// texts, bytes that are not UTF-8 become \xNN.
struct ColumnDef {
  std::string name;
  ColumnKind kind = ColumnKind::kInt64;
  std::span<const std::string_view> dictionary = {};
};

// The values of one column for a run of rows. A column without values is NULL in every row.
struct ColumnData {
  std::span<const std::int64_t> int64s = {};  // kInt64: per row; kInt64List: items of all rows
  std::span<const std::int32_t> int32s = {};  // kInt32: per row
  std::span<const double> doubles = {};       // kDouble: per row
  std::span<const std::uint32_t> codes =
      {};  // kDictionary: per row, kNullCode is NULL; kTextMap: key per entry
  std::span<const std::string_view> texts = {};  // kText: per row; kTextMap: value per entry
  std::span<const std::uint32_t> offsets =
      {};  // kInt64List, kTextMap: rows + 1, where each row's items begin
  std::span<const std::uint8_t> valid = {};  // per row, 0 is NULL; empty: no row is (but for codes)
};

// All rows at once. data[i] belongs to columns[i].
struct Batch {
  std::span<const ColumnDef> columns;
  std::span<const ColumnData> data;
  std::size_t rows = 0;
};

// Whether the column has values at all in a run of rows; one that has none is NULL.
[[nodiscard]] bool has_values(ColumnKind kind, const ColumnData& data);

// Fails where data does not fit its column: too few values, a code outside the dictionary, offsets
// that go back.
Status check_fit(const ColumnDef& column, const ColumnData& data, std::size_t rows);

// Rows [begin, begin + count) of a column. Items of lists and maps stay whole: offsets point into
// all of them.
[[nodiscard]] ColumnData rows_of(ColumnKind kind, const ColumnData& all, std::size_t begin,
                                 std::size_t count);

}  // namespace fathom::sql
