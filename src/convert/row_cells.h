// SPDX-License-Identifier: MIT
// Cells of a row, one after the other, in the order of the SELECT.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/store.h"
#include "base/table.h"
#include "render/export/event_stream.h"

namespace fathom::convert {

// Refers to the row, which must stay. A cell of another type than was asked for reads as NULL; to
// read more cells than the row has is a bug of the caller.
class RowCells {
 public:
  explicit RowCells(const std::vector<Value>& row) : next_(row.data()) {}

  render::ExportNumber number() {
    const auto* const value = std::get_if<std::int64_t>(&(next_++)->data);
    return value == nullptr ? render::ExportNumber() : *value;
  }
  std::int64_t number_or_0() { return number().value_or(0); }
  std::string_view text() {
    const auto* const value = std::get_if<std::string>(&(next_++)->data);
    return value == nullptr ? std::string_view() : *value;
  }
  double real() {
    const auto* const value = std::get_if<double>(&(next_++)->data);
    return value == nullptr ? 0 : *value;
  }
  void map(std::vector<render::ExportArg>& into) {
    into.clear();
    const auto* const object = std::get_if<Object>(&(next_++)->data);
    if (object == nullptr) return;
    for (const auto& [key, value] : *object) {
      const auto* const text = std::get_if<std::string>(&value.data);
      if (text != nullptr) into.emplace_back(key, *text);
    }
  }

 private:
  const Value* next_;
};

// `use` must not ask the store anything while rows come. Its Error ends the query and is returned.
template <class Use>
Status each_row(analysis::Store& store, const std::string& sql, Use use) {
  return store.stream(sql, [&](const Table& rows) -> Status {
    for (const std::vector<Value>& row : rows.rows) FATHOM_TRY(use(RowCells(row)));
    return {};
  });
}

}  // namespace fathom::convert
