// SPDX-License-Identifier: MIT
// The tables of a comparison.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/compare/compare.h"
#include "analysis/compare/sampled_functions.h"
#include "analysis/compare/sums.h"
#include "analysis/view_tools.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::string_view kByDefault[] = {"layer", "name", "file", "counter"};

// Apart by unit: a column has one.
struct UnitTable {
  Measure measure;
  std::string_view figures;
  std::string_view counters;
};
constexpr UnitTable kUnitTables[] = {
    {kNanoseconds, "Run: time", "Counters: time"},
    {kBytes, "Run: memory and bytes", "Counters: bytes"},
    {kCount, "Run: counts", "Counters: counts"},
    {kPercent, "Run: percent", "Counters: percent"},
    {kNone, "Run: other", "Counters: other"},
};

// Which columns a table has besides those of its keys.
// Columns that would be empty in all rows are left out, except for programs.
struct Layout {
  Measure measure;
  bool tested;
  bool explains = false;
  bool calls = false;
  bool unit = false;
  bool presence = true;
};

std::string presence_text(Presence presence) {
  switch (presence) {
    case Presence::kBoth:
      return "";
    case Presence::kNew:
      return "new";
    case Presence::kGone:
      return "gone";
  }
  return "";
}

void add_columns(Table& table, const Layout& layout) {
  const auto add = [&](const char* name, Measure measure) {
    table.columns.push_back({name, measure});
  };
  add("before", layout.measure);
  add("after", layout.measure);
  add("change", layout.measure);
  add("percent", kPercent);
  if (layout.tested) {
    add("low", layout.measure);
    add("high", layout.measure);
    add("p", kNone);
  }
  if (layout.explains) add("explains", kPercent);
  if (layout.calls) {
    add("calls_old", kCount);
    add("calls_new", kCount);
  }
  if (layout.unit) add("unit", kNone);
  if (layout.presence) add("note", kNone);
}

// As many digits as mean something. The last ones of a mean depend on the order in which threads of
// the database added.
constexpr double kMillionths = 1e6;
Value rounded(const std::optional<double>& number, double digits) {
  if (!number) return {};
  const double rounded = std::round(*number * digits) / digits;
  return rounded == 0 ? 0.0 : rounded;
}

std::vector<Value> row_of(const Difference& line, const Layout& layout) {
  std::vector<Value> row(line.key.begin(), line.key.end());
  const Estimate& value = line.value;
  for (const double one : {value.before, value.after, value.change})
    row.push_back(rounded(one, kMillionths));
  const std::optional<double> percent = value.percent();
  row.push_back(percent ? Value(rounded_percent(*percent)) : Value());
  if (layout.tested) {
    for (const auto& one : {value.low(), value.high()}) row.push_back(rounded(one, kMillionths));
    row.push_back(rounded(value.p, 1e4));
  }
  if (layout.explains) row.push_back(rounded(line.explains, 100));
  if (layout.calls) {
    row.push_back(line.calls ? Value(line.calls->before) : Value());
    row.push_back(line.calls ? Value(line.calls->after) : Value());
  }
  if (layout.unit) row.emplace_back(line.unit);
  if (layout.presence) row.emplace_back(presence_text(line.presence));
  return row;
}

bool is_shown(const Difference& line, const CompareOptions& options) {
  if (line.presence != Presence::kBoth) return true;
  const std::optional<double> percent = line.value.percent();
  if (!percent) return options.min_percent <= 0 || line.value.change != 0;
  return std::fabs(*percent) >= options.min_percent;
}

void fill(Table& table, const std::vector<const Difference*>& lines, const Layout& wanted,
          const CompareOptions& options, std::string_view what) {
  Layout layout = wanted;
  const bool both = std::ranges::all_of(
      lines, [](const Difference* line) { return line->presence == Presence::kBoth; });
  if (options.for_people && both) layout.presence = false;
  add_columns(table, layout);
  std::int64_t shown = 0;
  for (const Difference* line : lines) {
    if (!is_shown(*line, options)) continue;
    ++shown;
    const auto rows = static_cast<std::int64_t>(table.rows.size());
    if (options.top > 0 && rows >= options.top) continue;
    table.rows.push_back(row_of(*line, layout));
  }
  note_left_out(table, shown, what);
}

void add_figures(const Comparison& comparison, Report& report) {
  for (const UnitTable& unit : kUnitTables) {
    std::vector<const Difference*> lines;
    for (const Difference& line : comparison.figures) {
      if (line.measure == unit.measure) lines.push_back(&line);
    }
    if (lines.empty()) continue;
    Table table{
        .title = std::string(unit.figures), .columns = {{"figure"}}, .rows = {}, .note = {}};
    const Layout layout{.measure = unit.measure, .tested = comparison.tested(), .presence = false};
    fill(table, lines, layout, {.by = {}, .top = 0, .threshold = {}}, "figures");
    report.sections.push_back({std::move(table)});
  }
}

void add_group(const Comparison& comparison, const Grouping& grouping,
               const CompareOptions& options, Report& report) {
  std::vector<const Difference*> lines;
  for (const Difference& line : comparison.lines(grouping.name)) lines.push_back(&line);
  Table table;
  table.title = std::string(grouping.title);
  for (const std::string_view column : grouping.columns)
    table.columns.push_back({std::string(column)});
  const Layout layout{
      .measure = kNanoseconds, .tested = comparison.tested(), .explains = true, .calls = true};
  fill(table, lines, layout, options, grouping.what);
  if (table.rows.empty())
    table.note = lines.empty() ? "nothing was recorded" : "no change is that large";
  report.sections.push_back({std::move(table), Shape::kTable, kGroupsSection});
}

void add_counters(const Comparison& comparison, const CompareOptions& options, Report& report) {
  const std::size_t sections = report.sections.size();
  for (const UnitTable& unit : kUnitTables) {
    std::vector<const Difference*> lines;
    for (const Difference& line : comparison.lines("counter")) {
      if (line.measure == unit.measure) lines.push_back(&line);
    }
    Table table{.title = std::string(unit.counters),
                .columns = {{"counter"}, {"layer"}, {"statistic"}},
                .rows = {},
                .note = {}};
    const Layout layout{
        .measure = unit.measure, .tested = comparison.tested(), .unit = unit.measure == kNone};
    fill(table, lines, layout, options, "counters");
    if (!table.rows.empty()) report.sections.push_back({std::move(table)});
  }
  if (report.sections.size() > sections) return;
  const bool none = comparison.lines("counter").empty();
  report.sections.push_back(
      {Table{.title = "Counters",
             .columns = {{"counter"}},
             .rows = {},
             .note = none ? "no counter was recorded" : "no change is that large"}});
}

}  // namespace

Status check_options(const CompareOptions& options) {
  for (const std::string& name : options.by) {
    const bool known = name == "counter" || name == kSampledFunctions ||
                       std::ranges::find(groupings(), name, &Grouping::name) != groupings().end();
    if (known) continue;
    return usage_error("differences cannot be shown by '" + escape_control(name) + "'",
                       "--by takes layer, name, file, counter, pid, category or function");
  }
  if (options.top < 0) return usage_error("--top is a number of rows; 0 shows all");
  return {};
}

Report compare_report(const Comparison& comparison, const CompareOptions& options) {
  Report report;
  report.words = compare_words(comparison, options);
  add_figures(comparison, report);
  std::vector<std::string> by = options.by;
  if (by.empty()) by.assign(std::begin(kByDefault), std::end(kByDefault));
  for (const std::string& name : by) {
    if (name == kSampledFunctions) continue;  // whoever has the samples adds it
    const auto grouping = std::ranges::find(groupings(), name, &Grouping::name);
    if (grouping == groupings().end()) {
      add_counters(comparison, options, report);
    } else {
      add_group(comparison, *grouping, options, report);
    }
  }
  return report;
}

}  // namespace fathom::analysis
