// SPDX-License-Identifier: MIT
// A few thousand rows of a result as the database has them: columns that are read where they lie,
// for passes over very many rows. Valid while it is being looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::sql {

// Owns nothing: it points into the database's memory.
class Chunk {
 public:
  struct Column {
    const void* data = nullptr;
    const std::uint64_t* valid = nullptr;  // a bit a row; nullptr: no row is NULL
  };
  Chunk(std::size_t rows, std::vector<Column> columns)
      : rows_(rows), columns_(std::move(columns)) {}

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] bool is_null(std::size_t column, std::size_t row) const {
    const std::uint64_t* const valid = columns_[column].valid;
    return valid != nullptr && ((valid[row / 64] >> (row % 64)) & 1U) == 0;
  }
  // Of a column that is BIGINT or UBIGINT; anything where it is NULL.
  [[nodiscard]] std::span<const std::int64_t> int64s(std::size_t column) const {
    return {static_cast<const std::int64_t*>(columns_[column].data), rows_};
  }
  [[nodiscard]] std::optional<std::int64_t> int64(std::size_t column, std::size_t row) const {
    if (is_null(column, row)) return std::nullopt;
    return int64s(column)[row];
  }
  // Of a column that is VARCHAR.
  [[nodiscard]] std::optional<std::string_view> text(std::size_t column, std::size_t row) const;
  // A copy, for longer.
  [[nodiscard]] std::optional<std::string> kept_text(std::size_t column, std::size_t row) const {
    const std::optional<std::string_view> found = text(column, row);
    return found ? std::optional<std::string>(*found) : std::nullopt;
  }

 private:
  std::size_t rows_;
  std::vector<Column> columns_;
};

// An error ends the query. Must not use the connection that is streaming.
using OnChunk = std::function<Status(const Chunk& chunk)>;

}  // namespace fathom::sql
