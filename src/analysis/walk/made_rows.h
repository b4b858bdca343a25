// SPDX-License-Identifier: MIT
// Rows that a pass made, on their way into a table of the store's.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/walk/made_tables.h"
#include "analysis/walk/thread_walk.h"
#include "sql/columns.h"

namespace fathom::analysis {

// Columns of numbers and texts, any of which may be NULL. Every column gets a value for every row.
// One thread at a time. The columns that it hands out stay where they are as long as it lives.
class MadeRows {
 public:
  explicit MadeRows(const MadeTable& table) : table_(table) {}

  struct Numbers {
    std::vector<std::int64_t> values;
    std::vector<std::uint8_t> valid;
    void add(std::optional<std::int64_t> value) {
      values.push_back(value.value_or(0));
      valid.push_back(value ? 1 : 0);
    }
  };
  struct Reals {
    std::vector<double> values;
    std::vector<std::uint8_t> valid;
    void add(std::optional<double> value) {
      values.push_back(value.value_or(0));
      valid.push_back(value ? 1 : 0);
    }
  };
  // Texts must outlive the rows.
  struct Texts {
    std::vector<std::string_view> values;
    std::vector<std::uint8_t> valid;
    void add(const std::optional<std::string>& value) {
      values.push_back(value ? std::string_view(*value) : std::string_view());
      valid.push_back(value ? 1 : 0);
    }
  };

  // A column that the table declares, asked for once.
  Numbers& numbers(const char* name);
  Reals& reals(const char* name);
  Texts& texts(const char* name);

  // The table, for all connections. An error where its columns are not those that are declared.
  Status into(Store& store);

 private:
  struct Column {
    const char* name;
    const Numbers* numbers = nullptr;
    const Reals* reals = nullptr;
    const Texts* texts = nullptr;
  };
  [[nodiscard]] bool is_as_declared() const;

  MadeTable table_;
  std::vector<Column> columns_;
  std::deque<Numbers> numbers_;  // elements do not move
  std::deque<Reals> reals_;
  std::deque<Texts> texts_;
};

// host, pid, tid: NULL behind the first `levels` of them.
struct ThreadColumns {
  explicit ThreadColumns(MadeRows& rows)
      : host(rows.texts("host")), pid(rows.numbers("pid")), tid(rows.numbers("tid")) {}
  void add(const WalkThread& thread, std::size_t levels = 3) {
    static const std::optional<std::string> none;
    host.add(levels > 0 ? thread.host : none);
    pid.add(levels > 1 ? thread.pid : std::nullopt);
    tid.add(levels > 2 ? thread.tid : std::nullopt);
  }
  MadeRows::Texts& host;
  MadeRows::Numbers& pid;
  MadeRows::Numbers& tid;
};

}  // namespace fathom::analysis
