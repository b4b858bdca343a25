// SPDX-License-Identifier: MIT
// One merged result of all works: every one of them as an object for programs, and a line for each
// benchmark and its parameters for people, where repetitions are one row with their spread.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/compare/spread.h"
#include "fleet/suite/suite_run.h"

namespace fathom::fleet {
namespace {

Value number(std::size_t count) { return static_cast<std::int64_t>(count); }

std::string status_of(const ItemResult& one) {
  if (!one.outcome) return one.lost.empty() ? "cancelled" : "lost";
  if (one.outcome->timed_out) return "timed out";
  return one.outcome->exit == 0 ? "ok" : "failed";
}

Value item_object(const SuiteSpec& spec, const ItemResult& one) {
  Object parameters;
  for (const auto& [name, value] : one.item.parameters) parameters.emplace_back(name, value);
  List lost;
  for (const std::string& why : one.lost) lost.emplace_back(why);
  List command;
  for (const std::string& word : one.item.command) command.emplace_back(word);
  Object object{{"benchmark", spec.entries[one.item.entry].name},
                {"parameters", std::move(parameters)},
                {"repetition", one.item.repetition},
                {"command", std::move(command)},
                {"status", status_of(one)},
                {"exit", one.outcome ? Value(std::int64_t{one.outcome->exit}) : Value()},
                {"wall", one.outcome ? Value(one.outcome->wall) : Value()},
                {"user", one.outcome ? Value(one.outcome->user) : Value()},
                {"system", one.outcome ? Value(one.outcome->system) : Value()},
                {"max_rss", one.outcome ? number(one.outcome->max_rss) : Value()},
                {"host", one.host},
                {"attempts", number(one.ids.size())},
                {"lost", std::move(lost)}};
  return object;
}

// All works of one benchmark with the same parameters.
struct Line {
  const ItemResult* first = nullptr;
  std::size_t runs = 0, failed = 0, lost = 0, redone = 0;
  std::vector<double> walls;  // of those that succeeded
};

// Works of a line stand beside each other, since items are in the order of the suite.
std::vector<Line> lines_of(const SuiteResult& result) {
  std::vector<Line> lines;
  for (const ItemResult& one : result.items) {
    const bool begins = lines.empty() || lines.back().first->item.entry != one.item.entry ||
                        lines.back().first->item.parameters != one.item.parameters;
    if (begins) lines.emplace_back().first = &one;
    Line& line = lines.back();
    ++line.runs;
    if (!one.outcome) ++line.lost;
    if (one.outcome && one.outcome->exit != 0) ++line.failed;
    if (one.ids.size() > 1) ++line.redone;
    if (one.outcome && one.outcome->exit == 0) line.walls.push_back(one.outcome->wall);
  }
  return lines;
}

Value seconds(double wall) { return 1e9 * wall; }

// "size=2 mode=a"
std::string parameters_of(const SuiteItem& item) {
  std::string text;
  for (const auto& [name, value] : item.parameters)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

}  // namespace

std::string item_name(const SuiteSpec& spec, const SuiteItem& item) {
  const SuiteEntry& entry = spec.entries[item.entry];
  std::string name = entry.name;
  if (!item.parameters.empty()) name += " " + parameters_of(item);
  if (entry.repetitions > 1) name += fmt::format(" ({})", item.repetition + 1);
  return name;
}

Value suite_object(const SuiteSpec& spec, const SuiteResult& result) {
  List items;
  for (const ItemResult& one : result.items) items.push_back(item_object(spec, one));
  return Object{{"run", result.run},
                {"runs", number(result.items.size())},
                {"ended", number(result.ended())},
                {"failed", number(result.failed())},
                {"lost", number(result.lost())},
                {"redone", number(result.redone())},
                {"cancelled", result.cancelled},
                {"items", std::move(items)}};
}

Table suite_table(const SuiteSpec& spec, const SuiteResult& result) {
  Table table;
  table.title = "Suite";
  table.columns = {{"benchmark"},
                   {"parameters"},
                   {"runs", Measure::kCount},
                   {"failed", Measure::kCount},
                   {"lost", Measure::kCount},
                   {"redone", Measure::kCount},
                   {"median", Measure::kNanoseconds},
                   {"min", Measure::kNanoseconds},
                   {"max", Measure::kNanoseconds}};
  for (const Line& line : lines_of(result)) {
    std::vector<Value> row = {spec.entries[line.first->item.entry].name,
                              parameters_of(line.first->item),
                              number(line.runs),
                              number(line.failed),
                              number(line.lost),
                              number(line.redone)};
    if (line.walls.empty()) {
      row.insert(row.end(), 3, Value());
    } else {
      const analysis::Spread spread = analysis::spread_of(line.walls);
      row.insert(row.end(), {seconds(spread.median), seconds(spread.min), seconds(spread.max)});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace fathom::fleet
