// SPDX-License-Identifier: MIT
// Records as rows of a table: benchmarks with a row for each repetition, records of other kinds
// with one row each. Columns are what any of them has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/table.h"

namespace fathom::fleet {

// One thread at a time.
class RecordTable {
 public:
  explicit RecordTable(std::string_view kind) : of_runs_(kind == "benchmark") {}

  // A record that is no object is counted and left out.
  void add(std::int64_t index, std::string_view json);

  [[nodiscard]] std::int64_t damaged() const { return damaged_; }
  // Cells that a record does not have are NULL. Call it once, at the end.
  [[nodiscard]] Table take();

 private:
  std::size_t column(const std::string& name);
  void set(std::vector<Value>& row, const std::string& name, Value value);

  bool of_runs_;
  Table table_;
  std::map<std::string, std::size_t> columns_;
  std::int64_t damaged_ = 0;
};

}  // namespace fathom::fleet
