// SPDX-License-Identifier: MIT
// When each layer was busy: sums of stretches that the recording keeps beside its events, so that
// this view costs the same for a minute and for a day.
#include <fmt/format.h>

#include <map>

#include "analysis/contract.h"
#include "analysis/view_tools.h"
#include "analysis/views/stretches.h"
#include "analysis/views/tables.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kMostBins = 60;

struct Line {
  std::int64_t busy = 0;
  std::int64_t calls = 0;
  std::int64_t bytes = 0;
  List threads;
};

std::map<std::string, Line> lines_of(const Table& found) {
  std::map<std::string, Line> lines;
  for (const auto& row : found.rows) {
    Line& line = lines[text_of(row[0])];
    line.busy = int_of(row[1]);
    line.calls = int_of(row[2]);
    line.bytes = int_of(row[3]);
    line.threads = dense(row[4], row[5], int_of(row[6]), Value(0.0));
  }
  return lines;
}

Result<Report> run(Store& store, const ViewOptions&) {
  FATHOM_ASSIGN(Section section, timeline_section(store));
  return Report{.words = {}, .sections = {std::move(section)}};
}

}  // namespace

Result<Section> timeline_section(Store& store) {
  FATHOM_ASSIGN(const Table found,
                store.query(fmt::format(
                    R"(SELECT layer, CAST(round(sum(busy)) AS BIGINT), CAST(sum(calls) AS BIGINT),
                    CAST(sum(bytes) AS BIGINT), list(b ORDER BY b),
                    list(round(busy * bins / wall, 6) ORDER BY b), any_value(bins)
             FROM (SELECT layer, b, sum(busy) AS busy, sum(calls) AS calls, sum(bytes) AS bytes,
                          bins, wall FROM ({}) GROUP BY layer, b, bins, wall)
             GROUP BY layer)",
                    stretches_sql("", kMostBins))));
  std::map<std::string, Line> lines = lines_of(found);
  Section section{.table = {}, .shape = Shape::kSeries};
  Table& table = section.table;
  table.title = "Layers over time";
  table.columns = {
      {"layer"}, {"busy", kNanoseconds}, {"calls", kCount}, {"bytes", kBytes}, {"threads"}};
  const auto add = [&](const std::string& layer, Line& line) {
    table.rows.push_back({layer, line.busy, line.calls, line.bytes, std::move(line.threads)});
  };
  for (const std::string_view layer : layer_names()) {
    const auto line = lines.find(std::string(layer));
    if (line == lines.end()) continue;
    add(line->first, line->second);
    lines.erase(line);
  }
  for (auto& [layer, line] : lines) add(layer, line);
  if (table.rows.empty()) table.note = kNoCalls;
  return section;
}

extern const ViewDef kTimelineView;
const ViewDef kTimelineView = {
    .name = "timeline",
    .help = "number of threads in each layer over time",
    .by = {},
    .run = run,
};

}  // namespace fathom::analysis
