// SPDX-License-Identifier: MIT
// Collects columns for a table that a pass makes. They become a table of DuckDB's in one step, so
// that SQL sees either all rows or none.
#include "analysis/walk/made_rows.h"

#include <algorithm>
#include <string>

#include "base/text.h"

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

bool MadeRows::is_as_declared() const {
  std::vector<std::string> texts;
  std::vector<std::string> numbers;
  std::vector<std::string> reals;
  for (const Column& column : columns_) {
    auto& names = column.texts != nullptr ? texts : column.numbers != nullptr ? numbers : reals;
    names.emplace_back(column.name);
  }
  const auto same = [](std::vector<std::string>& names, std::string_view declared) {
    std::vector<std::string> wanted;
    for (const std::string_view name : split(declared, ',')) {
      if (!name.empty()) wanted.emplace_back(name);
    }
    std::ranges::sort(names);
    std::ranges::sort(wanted);
    return names == wanted;
  };
  return same(texts, table_.texts) && same(numbers, table_.numbers) && same(reals, table_.reals);
}

Status MadeRows::into(Store& store) {
  if (!is_as_declared())
    return Error{Code::kInvalid,
                 "the columns of " + std::string(table_.name) + " are not those declared", ""};
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
  return store.put_table(table_.name, {.columns = defs, .data = data, .rows = rows});
}

}  // namespace fathom::analysis
