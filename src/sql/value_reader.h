// SPDX-License-Identifier: MIT
// DuckDB's vectors into our values. Included by .cc files of this room only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/table.h"
#include "sql/duckdb_api.h"
#include "sql/logical_type.h"

namespace fathom::sql {

// Reads the values of one type; made once per column of a result. One thread at a time. What it
// gives are copies; the vector must stay only while read() runs.
class ValueReader {
 public:
  // Fails for types that have no plain form (UNION, BIGNUM): the hint says to cast.
  static Result<ValueReader> make(const DuckdbApi& api, LogicalType type);

  // Points at a chunk's vector, and at those inside it.
  void attach(duckdb_vector vector);
  [[nodiscard]] Value read(idx_t row) const;

 private:
  ValueReader(const DuckdbApi& api, LogicalType type);
  Status make_children();
  Status add_child(const std::string& name, duckdb_logical_type type);

  template <class T>
  [[nodiscard]] T at(idx_t row) const {
    return static_cast<const T*>(data_)[row];
  }
  [[nodiscard]] Value read_scalar(idx_t row) const;
  [[nodiscard]] Value read_nested(idx_t row) const;
  [[nodiscard]] Value read_by_text(idx_t row) const;
  [[nodiscard]] duckdb_value boxed(idx_t row) const;
  [[nodiscard]] Value read_decimal(idx_t row) const;
  [[nodiscard]] Value read_enum(idx_t row) const;
  [[nodiscard]] Value read_blob(idx_t row) const;
  [[nodiscard]] std::string_view text(idx_t row) const;
  [[nodiscard]] List read_list(idx_t begin, idx_t length) const;
  [[nodiscard]] Object read_map(idx_t begin, idx_t length) const;
  [[nodiscard]] Object read_struct(idx_t row) const;

  const DuckdbApi* api_;
  LogicalType type_;
  duckdb_type id_;
  std::vector<std::string> names_;  // of a STRUCT's children
  std::vector<ValueReader>
      children_;  // LIST and ARRAY: the item; MAP: key and value; STRUCT: its fields
  void* data_ = nullptr;
  std::uint64_t* validity_ = nullptr;  // nullptr: no NULL
};

}  // namespace fathom::sql
