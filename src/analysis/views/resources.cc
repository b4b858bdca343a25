// SPDX-License-Identifier: MIT
// What processes and machine used over time. Which counters stand in one picture, and whether they
// grow, is a table: a source that records more needs a line here. Pictures are apart by unit, since
// lines of two units cannot share an axis.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "analysis/view_tools.h"
#include "analysis/views/tables.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kMostBins = 40;
constexpr std::int64_t kFewLines = 8;
constexpr std::int64_t kManyLines = 40;

// A recorded counter and the line that it belongs to. Counters that only grow are shown as rates: a
// second's growth. Those of a GPU have its number in their names, which is left out here:
// gpu0_busy.
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

std::vector<Picture> pictures_of_processes() {
  return {
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
}

std::vector<Picture> pictures_of_gpus() {
  return {
      {"GPUs over time",
       kPercent,
       true,
       {{"gpu_busy", "busy", false, 1},
        {"gpu_memory_busy", "memory busy", false, 1},
        {"gpu_slowed", "slowed by heat or power", false, 1},
        {"gpu_process_busy", "busy", false, 1}}},
      {"Parts of GPUs over time",
       kPercent,
       false,
       {{"gpu_sm_busy", "processors", false, 1},
        {"gpu_occupancy", "warps in them", false, 1},
        {"gpu_tensor_busy", "tensor cores", false, 1},
        {"gpu_dram_busy", "memory bandwidth", false, 1},
        {"gpu_fp64_busy", "FP64", false, 1},
        {"gpu_fp32_busy", "FP32", false, 1},
        {"gpu_fp16_busy", "FP16", false, 1}}},
      {"Memory of GPUs over time",
       kBytes,
       true,
       {{"gpu_memory_used", "used", false, 1}, {"gpu_process_memory", "used", false, 1}}},
      {"Power of GPUs, W",
       kNone,
       false,
       {{"gpu_power", "power", false, 1}, {"gpu_energy", "by the energy counter", true, 1}}},
      {"Temperature of GPUs, C", kNone, false, {{"gpu_temperature", "temperature", false, 1}}},
      {"Clocks of GPUs, MHz",
       kNone,
       false,
       {{"gpu_clock", "processors", false, 1}, {"gpu_memory_clock", "memory", false, 1}}},
      {"Transfers of GPUs a second",
       kBytes,
       false,
       {{"gpu_pcie_sent", "PCIe, sent", true, 1},
        {"gpu_pcie_received", "PCIe, received", true, 1},
        {"gpu_nvlink_sent", "NVLink, sent", true, 1},
        {"gpu_nvlink_received", "NVLink, received", true, 1}}},
  };
}

const std::vector<Picture>& pictures() {
  static const std::vector<Picture> all = [] {
    std::vector<Picture> both = pictures_of_processes();
    std::ranges::move(pictures_of_gpus(), std::back_inserter(both));
    return both;
  }();
  return all;
}

std::string values_sql(const std::vector<Picture>& wanted) {
  std::string text;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    for (const Source& source : wanted[i].sources) {
      if (!text.empty()) text += ", ";
      text += fmt::format("({}, '{}', '{}', {}, {})", i, source.counter, source.line, source.grows,
                          source.scale);
    }
  }
  return text;
}

// The lines of all pictures at once: the samples of a long run lie in many files, which are read
// once.
std::string lines_sql(const std::vector<Picture>& wanted, std::int64_t rows) {
  return fmt::format(
      R"(WITH sources(picture, name, line, grows, scale) AS (VALUES {sources}),
         used AS MATERIALIZED (
           SELECT host, pid, ts, regexp_replace(name, '^gpu[0-9]+_', 'gpu_') AS name,
                  regexp_extract(name, '^gpu([0-9]+)_', 1) AS gpu, value
           FROM counters WHERE layer = 'resource'),
         bins_of AS (
           SELECT greatest(least(count(DISTINCT ts), {most_bins}), 1) AS bins FROM used),
         raw AS (
           SELECT picture, host, pid, grows, ts, sum(value * scale) AS value,
                  CASE WHEN gpu = '' THEN line ELSE 'GPU ' || gpu || ' ' || line END AS line
           FROM used JOIN sources USING (name) GROUP BY ALL),
         stepped AS (
           SELECT picture, host, pid, line, ts, CASE WHEN grows
               THEN 1e9 * greatest(value - lag(value) OVER w, 0) / nullif(ts - lag(ts) OVER w, 0)
               ELSE value END AS value
           FROM raw WINDOW w AS (PARTITION BY picture, host, pid, line ORDER BY ts)),
         binned AS (
           SELECT picture, host, pid, line, bins,
                  greatest(least((ts - $2) * bins // $1, bins - 1), 0) AS b, avg(value) AS value,
                  max(value) AS most, sum(value) AS total, count(value) AS n
           FROM stepped, bins_of WHERE value IS NOT NULL GROUP BY ALL),
         lines AS (
           SELECT picture, host, pid, line, bins, sum(total) / sum(n) AS mean, max(most) AS max,
                  list(b ORDER BY b) AS bs, list(value ORDER BY b) AS vs
           FROM binned GROUP BY picture, host, pid, line, bins),
         names AS (
           SELECT host, pid, arg_max(name, start) AS program FROM processes GROUP BY host, pid),
         ranked AS (
           SELECT l.*, coalesce(n.program, '') AS program,
                  count(*) OVER (PARTITION BY picture) AS all_rows,
                  row_number() OVER (PARTITION BY picture
                    ORDER BY l.pid IS NULL DESC, l.max DESC, l.pid, l.line) AS place
           FROM lines l
           LEFT JOIN names n ON n.pid = l.pid AND n.host IS NOT DISTINCT FROM l.host)
         SELECT pid, program, line, mean, max, bs, vs, bins, all_rows, picture
         FROM ranked WHERE place <= {rows} ORDER BY picture, place)",
      fmt::arg("sources", values_sql(wanted)), fmt::arg("most_bins", kMostBins),
      fmt::arg("rows", rows));
}

Table empty_table(const Picture& picture) {
  Table table;
  table.title = picture.title;
  table.columns = {
      {"pid"},      {"program"}, {"line"}, {"mean", picture.measure}, {"max", picture.measure},
      {"over_time"}};
  return table;
}

void add_line(Table& table, const std::vector<Value>& row) {
  std::vector<Value> cells(row.begin(), row.begin() + 5);
  cells.emplace_back(dense(row[5], row[6], int_of(row[7]), Value()));
  table.rows.push_back(std::move(cells));
}

std::string sql() {
  return "SELECT ts, host, pid, name, unit, value FROM counters WHERE layer = 'resource'";
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
  std::vector<Picture> wanted = pictures();
  if (!all) std::erase_if(wanted, [](const Picture& picture) { return !picture.in_overview; });
  FATHOM_ASSIGN(const TimeBase base, time_base(store));
  FATHOM_ASSIGN(const Table found, store.query(lines_sql(wanted, all ? kManyLines : kFewLines),
                                               {std::max<std::int64_t>(base.wall, 1), base.begin}));
  std::vector<Section> sections;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    Table table = empty_table(wanted[i]);
    std::int64_t all_rows = 0;
    for (const auto& row : found.rows) {
      if (int_of(row[9]) != static_cast<std::int64_t>(i)) continue;
      add_line(table, row);
      all_rows = int_of(row[8]);
    }
    if (table.rows.empty()) continue;
    note_left_out(table, all_rows, "lines");
    sections.push_back({std::move(table), Shape::kSeries});
  }
  return sections;
}

extern const ViewDef kResourcesView;
const ViewDef kResourcesView = {
    .name = "resources",
    .help = "CPU, memory, I/O and page faults of processes, machine and GPUs, over time",
    .by = {},
    .run = run,
    .sql = sql,
};

}  // namespace fathom::analysis
