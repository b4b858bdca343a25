// SPDX-License-Identifier: MIT
// Columns of ours as the leaves of a Parquet schema: their nodes, and their pages.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sql/columns.h"
#include "sql/parquet/format.h"
#include "sql/parquet/values.h"

namespace fathom::sql::parquet {

// The nodes of a column, itself first.
std::vector<Node> nodes_of(const ColumnDef& column);

// The paths of its leaves, in their order.
std::vector<std::vector<std::string>> leaf_paths(const ColumnDef& column);

// What a leaf has in one row group, ready for its pages.
struct Leaf {
  Type type = Type::kNone;
  std::size_t entries = 0;  // values, NULLs, and what stands for empty lists
  std::int64_t nulls = 0;
  std::string levels;  // as a data page begins
  EncodedValues values;
};

// Makes the leaves of one column, row group after row group. The data must fit (check_fit), and the
// column's definition must outlive this. One thread at a time.
class LeafMaker {
 public:
  explicit LeafMaker(const ColumnDef& column) : column_(&column) {}
  std::vector<Leaf> make(const ColumnData& data, std::size_t rows);

 private:
  template <class T>
  Leaf numbers(Type type, std::span<const T> values, std::span<const std::uint8_t> valid);
  Leaf codes(const ColumnData& data, std::size_t rows);
  Leaf list(const ColumnData& data, std::size_t rows);
  std::vector<Leaf> map(const ColumnData& data, std::size_t rows);
  std::vector<Leaf> nulls(std::size_t rows) const;

  const ColumnDef* column_;
  CodeEncoder encoder_;
};

}  // namespace fathom::sql::parquet
