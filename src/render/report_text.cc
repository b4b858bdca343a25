// SPDX-License-Identifier: MIT
// Draws bars, lines and trees into tables for people; programs get the numbers as they are.
#include "render/report_text.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/cell.h"
#include "render/bars.h"
#include "render/insight_text.h"
#include "render/spark.h"

namespace fathom::render {
namespace {

constexpr std::size_t kBarWidth = 30;
constexpr std::size_t kLineWidth = 40;
constexpr double kGap = std::numeric_limits<double>::quiet_NaN();  // in a line

// The fullest bar is full.
Table with_bars(Table table) {
  std::int64_t most = 1;
  for (const auto& row : table.rows) most = std::max(most, int_of(row.back()));
  for (auto& row : table.rows) {
    const double share = static_cast<double>(int_of(row.back())) / static_cast<double>(most);
    row.emplace_back(bar(share, kBarWidth));
  }
  table.columns.push_back({""});
  return table;
}

Table with_lines(Table table) {
  for (auto& row : table.rows) {
    const auto* list = std::get_if<List>(&row.back().data);
    std::vector<double> values;
    for (const Value& value : list == nullptr ? List() : *list)
      values.push_back(number_in(value).value_or(kGap));
    row.back() = sparkline(values, kLineWidth);
  }
  return table;
}

// Indents the column behind `depth` by it, and leaves `depth` out.
Table with_tree(Table table) {
  const auto depth = std::ranges::find(table.columns, "depth", &Column::name);
  const auto at = depth - table.columns.begin();
  if (depth == table.columns.end() || depth + 1 == table.columns.end()) return table;
  for (auto& row : table.rows) {
    const auto cell = row.begin() + at;
    const auto indent = static_cast<std::size_t>(std::max<std::int64_t>(int_of(*cell), 0));
    *(cell + 1) = std::string(2 * indent, ' ') + text_of(*(cell + 1));
    row.erase(cell);
  }
  table.columns.erase(depth);
  return table;
}

Table drawn(const analysis::Section& section) {
  switch (section.shape) {
    case analysis::Shape::kTable:
      return section.table;
    case analysis::Shape::kBars:
      return with_bars(section.table);
    case analysis::Shape::kSeries:
      return with_lines(section.table);
    case analysis::Shape::kTree:
      return with_tree(section.table);
  }
  return section.table;
}

Table word_table(const std::vector<std::string>& words) {
  Table table{.title = "Words", .columns = {{"text"}}, .rows = {}, .note = {}};
  for (const std::string& sentence : words) table.rows.push_back({sentence});
  return table;
}

// For people the gravest few; programs get them all.
constexpr std::size_t kMostInsights = 5;

std::string insights_for_people(const std::vector<analysis::Insight>& all, Format format,
                                const Style& style) {
  std::vector<analysis::Insight> top;
  for (const analysis::Insight& one : all) {
    if (one.severity != analysis::Severity::kGood && top.size() < kMostInsights) top.push_back(one);
  }
  return insight_text(top, format, style);
}

}  // namespace

std::string report_text(const analysis::Report& report, Format format, const Style& style) {
  const bool for_people = format == Format::kTable || format == Format::kMarkdown;
  std::string text;
  std::vector<Table> tables;
  if (for_people) {
    const char* line_end = format == Format::kMarkdown ? "\n\n" : "\n";
    if (report.of_part) text += analysis::kOfPart + std::string("\n\n");
    for (const std::string& sentence : report.words)
      text += sentence_text(sentence, format) + line_end;
    if (!report.words.empty() && !report.sections.empty()) text += "\n";
    text += insights_for_people(report.insights, format, style);
  } else if (!report.words.empty()) {
    tables.push_back(word_table(report.words));
    tables.push_back(insight_table(report.insights));
  }
  for (const analysis::Section& section : report.sections) {
    tables.push_back(for_people ? drawn(section) : section.table);
  }
  return text + render_document(tables, format, style);
}

}  // namespace fathom::render
