// SPDX-License-Identifier: MIT
// The report that a page shows: the overview's words and tables, how I/O spread over processes and
// time, and what the recording says about itself.
#include <algorithm>
#include <map>

#include "analysis/filtered_views.h"
#include "analysis/report.h"
#include "base/plural.h"
#include "convert/row_cells.h"
#include "convert/store_stream.h"
#include "render/insight_text.h"

namespace fathom::convert {
namespace {

using Shape = render::ExportSection::Shape;

constexpr std::int64_t kBins = 60;
constexpr std::size_t kMostProcesses = 40;

Shape shape_of(analysis::Shape shape) {
  switch (shape) {
    case analysis::Shape::kTable:
    case analysis::Shape::kTree:
      return Shape::kTable;
    case analysis::Shape::kBars:
      return Shape::kBars;
    case analysis::Shape::kSeries:
      return Shape::kSeries;
  }
  return Shape::kTable;
}

constexpr char kHeatSql[] = R"(
  SELECT coalesce(host, '') AS host, pid, greatest(least(ts * $1 // $2, $1 - 1), 0) AS b,
         CAST(sum(bytes) AS BIGINT) AS bytes
  FROM moved GROUP BY ALL ORDER BY ALL)";

struct HeatRow {
  std::int64_t bytes = 0;
  List bins = List(kBins, Value(std::int64_t{0}));
};

Result<Table> heat_table(analysis::Store& store, std::int64_t wall) {
  FATHOM_ASSIGN(const Table found, store.query(kHeatSql, {kBins, std::max<std::int64_t>(wall, 1)}));
  std::map<std::pair<std::string, std::int64_t>, HeatRow> rows;
  for (const std::vector<Value>& row : found.rows) {
    RowCells cells(row);
    std::string host(cells.text());
    const std::int64_t pid = cells.number().value_or(-1);
    const auto bin = static_cast<std::size_t>(cells.number_or_0());
    const std::int64_t bytes = cells.number_or_0();
    HeatRow& heat = rows[{std::move(host), pid}];
    heat.bytes += bytes;
    heat.bins[bin] = bytes;
  }
  Table table;
  table.title = "I/O over processes and time";
  table.columns = {{"host"}, {"pid"}, {"bytes", Measure::kBytes}, {"over_time"}};
  for (auto& [key, heat] : rows)
    table.rows.push_back({key.first, key.second, heat.bytes, std::move(heat.bins)});
  std::ranges::stable_sort(table.rows, std::greater(), [](const std::vector<Value>& row) {
    return std::get<std::int64_t>(row[2].data);
  });
  if (table.rows.size() > kMostProcesses) {
    table.note = counted(table.rows.size() - kMostProcesses, "more process") + " left out";
    table.rows.resize(kMostProcesses);
  }
  return table;
}

Result<std::vector<std::pair<std::string, std::string>>> facts_of(analysis::Store& store) {
  std::vector<std::pair<std::string, std::string>> facts;
  FATHOM_TRY(each_row(store, "SELECT key, value FROM run", [&](RowCells cells) -> Status {
    std::string key(cells.text());
    facts.emplace_back(std::move(key), cells.text());
    return {};
  }));
  return facts;
}

std::string title_of(const std::vector<std::pair<std::string, std::string>>& facts) {
  for (const auto& [key, value] : facts) {
    if (key == "command" && !value.empty()) return value;
  }
  return "A recording";
}

}  // namespace

Result<render::ExportReport> StoreStream::report() {
  FATHOM_ASSIGN(const analysis::ViewDef* const overview, analysis::choose_view("overview", {}));
  FATHOM_ASSIGN(const std::vector<analysis::Rule> rules, analysis::rules_for({}));
  FATHOM_ASSIGN(analysis::Report found,
                analysis::report_part(*store_, *overview, {.by = {}, .rules = rules}, filter_));
  render::ExportReport report;
  FATHOM_ASSIGN(report.wall_ns, store_->wall_ns());
  FATHOM_ASSIGN(report.facts, facts_of(*store_));
  report.title = title_of(report.facts);
  report.words = std::move(found.words);
  if (found.of_part) report.words.insert(report.words.begin(), analysis::kOfPart);
  if (!found.insights.empty())
    report.sections.push_back({render::insight_table(found.insights), Shape::kTable});
  FATHOM_ASSIGN(Table heat, heat_table(*store_, report.wall_ns));
  for (analysis::Section& section : found.sections) {
    const bool split = section.table.title == "Time by layer";
    const bool timeline = section.table.title == "Layers over time";
    report.sections.push_back(
        {std::move(section.table), split ? Shape::kSplit : shape_of(section.shape)});
    if (timeline && !heat.rows.empty()) report.sections.push_back({heat, Shape::kHeat});
  }
  return report;
}

}  // namespace fathom::convert
