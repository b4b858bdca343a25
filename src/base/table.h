// SPDX-License-Identifier: MIT
// A small result that people look at: named columns and rows of values. What render prints, serve
// sends and sql returns. Anything large is streamed instead (sql/connection.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace fathom {

struct Value;
using List = std::vector<Value>;
using Object = std::vector<std::pair<std::string, Value>>;

// A cell. monostate is NULL. uint64 exists for values beyond int64.
struct Value {
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, List, Object>
      data;

  Value() = default;
  template <class T>                          // converts by itself: a cell is its content
  Value(T value) : data(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] bool is_null() const { return data.index() == 0; }
};

// How a column is shown to people; JSON and CSV carry the plain value whatever it says.
enum class Measure : std::uint8_t { kNone, kNanoseconds, kBytes, kCount, kPercent };

// As JSON names it: "ns", "bytes", "count", "percent"; "" where numbers are only names.
constexpr std::string_view unit_of(Measure measure) {
  switch (measure) {
    case Measure::kNone:
      return "";
    case Measure::kNanoseconds:
      return "ns";
    case Measure::kBytes:
      return "bytes";
    case Measure::kCount:
      return "count";
    case Measure::kPercent:
      return "percent";
  }
  return "";
}

// A name, and how it is shown where people read.
struct Column {
  std::string name;
  Measure measure = Measure::kNone;
  // How soon people do without it where a line has no room for all: the highest goes first, 0
  // never. JSON, CSV and Markdown have every column.
  std::uint8_t rank = 0;
};

// A whole result in memory: every row has a value for each column.
struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Value>> rows;
  std::string note;  // one line under the table: why it is empty, what was left out
};

}  // namespace fathom
