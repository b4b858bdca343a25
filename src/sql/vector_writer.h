// SPDX-License-Identifier: MIT
// Our columns into DuckDB's vectors, at most 2048 rows at a time. Included by .cc files of this
// room only.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "sql/columns.h"
#include "sql/dictionary.h"
#include "sql/duckdb_api.h"
#include "sql/logical_type.h"

namespace fathom::sql {

// A column ready to be written: what it is, its dictionary as ENUM members, DuckDB's type for it.
class VectorWriter {
 public:
  VectorWriter(const DuckdbApi& api, ColumnDef def, Dictionary dictionary);

  [[nodiscard]] const std::string& name() const { return def_.name; }
  [[nodiscard]] duckdb_logical_type type() const { return type_.get(); }

  // kInvalid where the data does not fit the column; then the vector holds anything.
  Status write(const ColumnData& data, std::size_t rows, duckdb_vector vector) const;

 private:
  [[nodiscard]] LogicalType make_type() const;
  [[nodiscard]] LogicalType dictionary_type() const;

  template <class T>
  void write_numbers(std::span<const T> values, duckdb_vector vector) const;
  void write_texts(const ColumnData& data, std::size_t rows, duckdb_vector vector) const;
  void write_text(std::string_view text, std::size_t row, duckdb_vector vector) const;
  void write_dictionary(const ColumnData& data, std::size_t rows, duckdb_vector vector) const;
  void write_codes(std::span<const std::uint32_t> codes, duckdb_vector vector) const;
  Status write_entries(const ColumnData& data, std::size_t rows, duckdb_vector vector) const;
  Status write_list(const ColumnData& data, std::size_t rows, duckdb_vector vector) const;
  Status write_map(const ColumnData& data, std::size_t rows, duckdb_vector vector) const;
  void write_validity(std::span<const std::uint8_t> valid, duckdb_vector vector) const;
  void write_nulls(std::size_t rows, duckdb_vector vector) const;

  const DuckdbApi* api_;
  ColumnDef def_;
  Dictionary dictionary_;
  LogicalType type_;
  duckdb_type code_type_;  // the ENUM's integer; VARCHAR where the dictionary has no text
};

}  // namespace fathom::sql
