// SPDX-License-Identifier: MIT
// When each layer was busy.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/contract.h"
#include "analysis/view_tools.h"
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

Result<std::int64_t> bins_of(Store& store, std::int64_t wall) {
  FATHOM_ASSIGN(const Table widest, store.query("SELECT max(width) FROM timeline"));
  const std::int64_t width = std::max<std::int64_t>(int_of(widest.rows[0][0]), 1);
  return std::clamp<std::int64_t>(wall / width, 1, kMostBins);
}

std::map<std::string, Line> lines_of(const Table& found, std::int64_t bins, std::int64_t wall) {
  std::map<std::string, Line> lines;
  const double bin_width = static_cast<double>(wall) / static_cast<double>(bins);
  for (const auto& row : found.rows) {
    Line& line = lines[text_of(row[0])];
    line.threads.resize(static_cast<std::size_t>(bins), Value(0.0));
    line.busy += int_of(row[2]);
    line.calls += int_of(row[3]);
    line.bytes += int_of(row[4]);
    line.threads[static_cast<std::size_t>(int_of(row[1]))] =
        static_cast<double>(int_of(row[2])) / bin_width;
  }
  return lines;
}

Result<Report> run(Store& store, const ViewOptions&) {
  FATHOM_ASSIGN(Section section, timeline_section(store));
  return Report{.words = {}, .sections = {std::move(section)}};
}

}  // namespace

Result<Section> timeline_section(Store& store) {
  FATHOM_ASSIGN(const TimeBase base, time_base(store));
  const std::int64_t wall = std::max<std::int64_t>(base.wall, 1);
  FATHOM_ASSIGN(const std::int64_t bins, bins_of(store, wall));
  FATHOM_ASSIGN(const Table found,
                store.query("SELECT layer, greatest(least((ts - $3) * $1 // $2, $1 - 1), 0) AS b, "
                            "CAST(sum(busy) AS BIGINT), CAST(sum(calls) AS BIGINT), "
                            "CAST(sum(bytes) AS BIGINT) FROM timeline GROUP BY layer, b",
                            {bins, wall, base.begin}));
  std::map<std::string, Line> lines = lines_of(found, bins, wall);
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
  if (table.rows.empty()) table.note = "no call was recorded";
  return section;
}

extern const ViewDef kTimelineView;
const ViewDef kTimelineView = {
    .name = "timeline",
    .help = "how many threads were in each layer over time",
    .by = {},
    .run = run,
};

}  // namespace fathom::analysis
