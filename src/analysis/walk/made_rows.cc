// SPDX-License-Identifier: MIT
// Collects columns for a table that a pass makes. They become a table of DuckDB's in one step, so
// that SQL sees either all rows or none.
#include "analysis/walk/made_rows.h"

namespace fathom::analysis {

MadeRows::Numbers& MadeRows::numbers(const char* name) {
  columns_.push_back({.name = name, .numbers = &numbers_.emplace_back()});
  return numbers_.back();
}

MadeRows::Reals& MadeRows::reals(const char* name) {
  columns_.push_back({.name = name, .reals = &reals_.emplace_back()});
  return reals_.back();
}

MadeRows::Texts& MadeRows::texts(const char* name) {
  columns_.push_back({.name = name, .texts = &texts_.emplace_back()});
  return texts_.back();
}

Status MadeRows::into(Store& store, const std::string& table) {
  std::vector<sql::ColumnDef> defs;
  std::vector<sql::ColumnData> data;
  std::size_t rows = 0;
  for (const Column& column : columns_) {
    if (column.numbers != nullptr) {
      defs.push_back({.name = column.name, .kind = sql::ColumnKind::kInt64});
      data.push_back({.int64s = column.numbers->values, .valid = column.numbers->valid});
      rows = column.numbers->values.size();
    } else if (column.reals != nullptr) {
      defs.push_back({.name = column.name, .kind = sql::ColumnKind::kDouble});
      data.push_back({.doubles = column.reals->values, .valid = column.reals->valid});
      rows = column.reals->values.size();
    } else {
      defs.push_back({.name = column.name, .kind = sql::ColumnKind::kText});
      data.push_back({.texts = column.texts->values, .valid = column.texts->valid});
      rows = column.texts->values.size();
    }
  }
  return store.put_table(table, {.columns = defs, .data = data, .rows = rows});
}

}  // namespace fathom::analysis
