// SPDX-License-Identifier: MIT
// What processes and machine used over time. Tables are apart by unit.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/view_tools.h"
#include "analysis/views/tables.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kMostBins = 40;
constexpr std::int64_t kFewLines = 8;
constexpr std::int64_t kManyLines = 40;

// A recorded counter and the line that it belongs to. Counters that only grow are shown as rates: a
// second's growth.
struct Source {
  std::string_view counter;
  std::string_view line;
  bool grows;
  double scale;  // of the value, or of its growth in a second
};

struct Picture {
  std::string_view title;
  Measure measure;
  bool in_overview;
  std::vector<Source> sources;
};

const std::vector<Picture>& pictures() {
  static const std::vector<Picture> pictures = {
      {"CPU over time",
       kPercent,
       true,
       {{"cpu_user", "cpu", true, 100},
        {"cpu_system", "cpu", true, 100},
        {"cgroup_cpu", "control group", true, 1e-7},
        {"cpu_busy", "machine", false, 1}}},
      {"Memory over time",
       kBytes,
       true,
       {{"rss", "rss", false, 1},
        {"pss", "pss", false, 1},
        {"cgroup_memory", "control group", false, 1},
        {"memory_used", "machine", false, 1}}},
      {"I/O a second",
       kBytes,
       false,
       {{"rchar", "read by calls", true, 1},
        {"wchar", "written by calls", true, 1},
        {"read_bytes", "read from devices", true, 1},
        {"write_bytes", "written to devices", true, 1}}},
      {"Events a second",
       kNone,
       false,
       {{"minor_faults", "minor faults", true, 1},
        {"major_faults", "major faults", true, 1},
        {"voluntary_switches", "voluntary switches", true, 1},
        {"involuntary_switches", "involuntary switches", true, 1}}},
  };
  return pictures;
}

std::string values_sql(const std::vector<Source>& sources) {
  std::string text;
  for (const Source& source : sources) {
    if (!text.empty()) text += ", ";
    text += fmt::format("('{}', '{}', {}, {})", source.counter, source.line, source.grows,
                        source.scale);
  }
  return text;
}

std::string lines_sql(const Picture& picture, std::int64_t rows) {
  return fmt::format(
      R"(WITH sources(name, line, grows, scale) AS (VALUES {sources}),
         raw AS (
           SELECT host, pid, line, grows, ts, sum(value * scale) AS value
           FROM counters JOIN sources USING (name) WHERE layer = 'resource' GROUP BY ALL),
         stepped AS (
           SELECT host, pid, line, ts, CASE WHEN grows
               THEN 1e9 * greatest(value - lag(value) OVER w, 0) / nullif(ts - lag(ts) OVER w, 0)
               ELSE value END AS value
           FROM raw WINDOW w AS (PARTITION BY host, pid, line ORDER BY ts)),
         bins AS (
           SELECT host, pid, line, greatest(least(ts * $1 // $2, $1 - 1), 0) AS b, avg(value) AS value,
                  max(value) AS most, sum(value) AS total, count(value) AS n
           FROM stepped WHERE value IS NOT NULL GROUP BY ALL),
         lines AS (
           SELECT host, pid, line, sum(total) / sum(n) AS mean, max(most) AS max,
                  list(b ORDER BY b) AS bs, list(value ORDER BY b) AS vs
           FROM bins GROUP BY host, pid, line),
         names AS (SELECT host, pid, arg_max(name, start) AS program FROM processes GROUP BY host, pid)
         SELECT l.pid, coalesce(n.program, '') AS program, l.line, l.mean, l.max, l.bs, l.vs,
                count(*) OVER () AS all_rows
         FROM lines l LEFT JOIN names n ON n.pid = l.pid AND n.host IS NOT DISTINCT FROM l.host
         ORDER BY l.pid IS NULL DESC, l.max DESC, l.pid, l.line {limit})",
      fmt::arg("sources", values_sql(picture.sources)), fmt::arg("limit", limit_sql(rows)));
}

// Values at their bins; NULL between them.
List dense(const Value& bins, const Value& values, std::int64_t count) {
  List line(static_cast<std::size_t>(count));
  const auto* where = std::get_if<List>(&bins.data);
  const auto* what = std::get_if<List>(&values.data);
  for (std::size_t i = 0; where != nullptr && what != nullptr && i < where->size(); ++i) {
    line[static_cast<std::size_t>(int_of((*where)[i]))] = (*what)[i];
  }
  return line;
}

Result<std::int64_t> bins_of(Store& store) {
  FATHOM_ASSIGN(const Table times,
                store.query("SELECT count(DISTINCT ts) FROM counters WHERE layer = 'resource'"));
  return std::clamp<std::int64_t>(int_of(times.rows[0][0]), 1, kMostBins);
}

Result<Table> line_table(Store& store, const Picture& picture, std::int64_t bins,
                         std::int64_t rows) {
  FATHOM_ASSIGN(const std::int64_t wall, store.wall_ns());
  FATHOM_ASSIGN(const Table found,
                store.query(lines_sql(picture, rows), {bins, std::max<std::int64_t>(wall, 1)}));
  Table table;
  table.title = picture.title;
  table.columns = {
      {"pid"},      {"program"}, {"line"}, {"mean", picture.measure}, {"max", picture.measure},
      {"over_time"}};
  for (const auto& row : found.rows) {
    std::vector<Value> cells(row.begin(), row.begin() + 5);
    cells.emplace_back(dense(row[5], row[6], bins));
    table.rows.push_back(std::move(cells));
  }
  if (!found.rows.empty()) note_left_out(table, int_of(found.rows[0][7]), "lines");
  return table;
}

Result<Report> run(Store& store, const ViewOptions&) {
  FATHOM_ASSIGN(std::vector<Section> sections, resource_sections(store, true));
  Report report{.words = {}, .sections = std::move(sections)};
  if (report.sections.empty()) {
    report.words.emplace_back("No resources were sampled: layer resource recorded nothing.");
  }
  return report;
}

}  // namespace

Result<std::vector<Section>> resource_sections(Store& store, bool all) {
  FATHOM_ASSIGN(const std::int64_t bins, bins_of(store));
  std::vector<Section> sections;
  for (const Picture& picture : pictures()) {
    if (!all && !picture.in_overview) continue;
    FATHOM_ASSIGN(Table table, line_table(store, picture, bins, all ? kManyLines : kFewLines));
    if (!table.rows.empty()) sections.push_back({std::move(table), Shape::kSeries});
  }
  return sections;
}

extern const ViewDef kResourcesView;
const ViewDef kResourcesView = {
    .name = "resources",
    .help = "CPU, memory, I/O and faults of processes and machine over time",
    .by = {},
    .run = run,
};

}  // namespace fathom::analysis
