// SPDX-License-Identifier: MIT
// Adds a column when a record first has it; take() fills all rows to the same width. Lists and
// objects inside a record become JSON in a text cell.
#include "fleet/record_table.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"

namespace fathom::fleet {
namespace {

using Json = nlohmann::json;

// Lists and objects as the text of their JSON.
Value cell(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
    case Json::value_t::discarded:
      return {};
    case Json::value_t::boolean:
      return value.get<bool>();
    case Json::value_t::number_integer:
      return value.get<std::int64_t>();
    case Json::value_t::number_unsigned:
      return std::in_range<std::int64_t>(value.get<std::uint64_t>())
                 ? Value(value.get<std::int64_t>())
                 : Value(value.get<std::uint64_t>());
    case Json::value_t::number_float:
      return value.get<double>();
    case Json::value_t::string:
      return value.get<std::string>();
    case Json::value_t::array:
    case Json::value_t::object:
    case Json::value_t::binary:
      return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return {};
}

// As a shell reads it, where it is a list of words.
Value command_cell(const Json& value) {
  if (!value.is_array()) return cell(value);
  std::vector<std::string> words;
  for (const Json& word : value) {
    if (!word.is_string()) return cell(value);
    words.push_back(word.get<std::string>());
  }
  return shell_join(words);
}

// Its figures, and its events by their names.
std::vector<std::pair<std::string, Value>> cells_of_run(const Json& run) {
  std::vector<std::pair<std::string, Value>> cells;
  if (!run.is_object()) return cells;
  for (const auto& [name, value] : run.items()) {
    if (name != "events") cells.emplace_back(name, cell(value));
  }
  const auto events = run.find("events");
  if (events == run.end() || !events->is_object()) return cells;
  for (const auto& [name, event] : events->items()) {
    if (event.is_object() && event.contains("value"))
      cells.emplace_back(name, cell(event["value"]));
  }
  return cells;
}

}  // namespace

std::size_t RecordTable::column(const std::string& name) {
  const auto [found, added] = columns_.emplace(name, table_.columns.size());
  if (added) table_.columns.push_back({.name = name});
  return found->second;
}

void RecordTable::set(std::vector<Value>& row, const std::string& name, Value value) {
  const std::size_t at = column(name);
  if (row.size() <= at) row.resize(at + 1);
  row[at] = std::move(value);
}

void RecordTable::add(std::int64_t index, std::string_view json) {
  const Json record = Json::parse(json, nullptr, false);
  const auto runs = record.find("runs");  // the end where it is no object
  const bool has_runs = runs != record.end() && runs->is_array();
  if (!record.is_object() || (of_runs_ && !has_runs)) {
    ++damaged_;
    return;
  }
  std::vector<Value> front;
  set(front, "record", index);
  for (const auto& [name, value] : record.items()) {
    if (of_runs_ && name == "runs") continue;
    set(front, name, name == "command" ? command_cell(value) : cell(value));
  }
  if (!of_runs_) {
    table_.rows.push_back(std::move(front));
    return;
  }
  std::int64_t number = 0;
  for (const Json& run : *runs) {
    std::vector<Value> row = front;
    set(row, "run", number++);
    for (auto& [name, value] : cells_of_run(run)) set(row, name, std::move(value));
    table_.rows.push_back(std::move(row));
  }
}

Table RecordTable::take() {
  for (std::vector<Value>& row : table_.rows) row.resize(table_.columns.size());
  return std::move(table_);
}

}  // namespace fathom::fleet
