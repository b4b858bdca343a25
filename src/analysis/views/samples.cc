// SPDX-License-Identifier: MIT
// Sampled stacks by function, by source line, and as profiling-framework's table of nodes.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/sample_events.h"
#include "analysis/view_tools.h"
#include "analysis/views/sampled_event.h"
#include "base/host.h"
#include "base/plural.h"
#include "base/source_text.h"
#include "base/utf8.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kRows = 30;
constexpr char kNothing[] = "nothing was sampled; 'fathom report TRACE layers' says why";
constexpr std::string_view kBy[] = {"thread", "event", "module", "pid", "host"};

// Each stack once, whatever number of files and recordings has it; and its innermost frame.
constexpr char kStacks[] =
    R"(WITH once AS (
         SELECT DISTINCT stack, depth, "function", module, file, line FROM frames),
       leaves AS (
         SELECT stack, max_by("function", depth) AS "function", max_by(module, depth) AS module,
                max_by(file, depth) AS file, max_by(line, depth) AS line
         FROM (SELECT stack, depth, coalesce("function", 'unknown') AS "function",
                      coalesce(module, '') AS module, coalesce(file, '') AS file,
                      coalesce(line, 0) AS line FROM once)
         GROUP BY stack),
       whole AS (
         SELECT DISTINCT stack, coalesce("function", 'unknown') AS "function",
                coalesce(module, '') AS module FROM once),
       taken AS (SELECT *, tid AS thread FROM samples WHERE {}) )";

std::string stacks_sql(bool all_events) {
  return fmt::format(kStacks, all_events ? "true" : kOfOneEvent);
}

bool is_by_event(const std::vector<std::string>& by) {
  return std::ranges::find(by, "event") != by.end();
}

// A function that calls itself counts once for a stack.
std::string hot_sql(const std::vector<std::string>& by) {
  std::vector<std::string> further = by;
  std::erase(further, "module");
  const bool by_event = is_by_event(further);
  const std::string keys = further.empty() ? "" : columns_sql(further) + ", ";
  return fmt::format(
      R"({stacks}, sums AS (
           SELECT {keys} stack, sum(weight) AS weight, count(*) AS samples FROM taken
           GROUP BY {keys} stack)
         SELECT {keys} "function", nullif(module, '') AS module, CAST(sum(self) AS BIGINT) AS self,
                CAST(sum(total) AS BIGINT) AS total, CAST(sum(samples) AS BIGINT) AS samples
         FROM (SELECT {keys} "function", module, weight AS self, 0 AS total, samples
               FROM sums JOIN leaves USING (stack)
               UNION ALL
               SELECT {keys} "function", module, 0, weight, 0 FROM sums JOIN whole USING (stack))
         GROUP BY {keys} "function", module)",
      fmt::arg("stacks", stacks_sql(by_event)), fmt::arg("keys", keys));
}

std::string lines_sql() {
  return stacks_sql(false) + R"(
    SELECT file, line, "function", CAST(sum(weight) AS BIGINT) AS self, count(*) AS samples
    FROM taken JOIN leaves USING (stack) WHERE file <> '' GROUP BY ALL)";
}

// A stack counts for its innermost function. The file name of the module is what the program was
// called, as far as it goes.
std::string nodes_sql() {
  return stacks_sql(true) + R"(
    SELECT "function" AS node, regexp_extract(module, '[^/]*$') AS execname, event,
           CAST(sum(weight) AS BIGINT) AS "count"
    FROM taken JOIN leaves USING (stack) GROUP BY ALL)";
}

Result<Report> ranked(Store& store, const ViewOptions& options, const std::string& sql,
                      std::string_view order, const char* title, std::string_view what) {
  FATHOM_ASSIGN(Table table, store.query(fmt::format(
                                 "SELECT *, count(*) OVER () AS all_rows FROM ({}) ORDER BY {} {}",
                                 sql, order, limit_sql(rows_wanted(options, kRows)))));
  const std::int64_t all = take_row_count(table);
  table.title = title;
  if (all == 0) table.note = kNothing;
  note_left_out(table, all, what);
  return Report{.words = {}, .sections = {{std::move(table)}}};
}

Result<Report> run_hot(Store& store, const ViewOptions& options) {
  FATHOM_ASSIGN(Report report, ranked(store, options, hot_sql(options.by),
                                      "self DESC, total DESC, \"function\", module",
                                      "Functions by sampled time", "functions"));
  FATHOM_ASSIGN(const SampledEvent sampled, sampled_event(store));
  const bool every_event = is_by_event(options.by);
  const Measure measure = every_event ? sampled.measure_of_all : sampled.measure;
  Table& table = report.sections[0].table;
  set_measures(table, {{"self", measure}, {"total", measure}, {"samples", kCount}});
  if (!every_event) add_note(table, sampled.note);
  return report;
}

// When the last of the recordings was made, in ns since 1970; 0 if that is unknown.
Result<std::int64_t> recorded_until(Store& store) {
  std::int64_t start = 0;
  for (const trace::Part& part : store.parts())
    start = std::max(start, part.manifest.start_realtime_ns);
  FATHOM_ASSIGN(const std::int64_t wall, store.wall_ns());
  return start > 0 ? start + wall : 0;
}

// Files of another machine may be others under the same path.
bool is_of_this_host(const Store& store) {
  return std::ranges::all_of(store.parts(), [](const trace::Part& part) {
    const std::string& host = part.manifest.host.hostname;
    return host.empty() || host == this_host().hostname;
  });
}

// What the lines say, where the files are still there as they were.
Status add_source(Store& store, Table& table) {
  const std::size_t file = column_of(table, "file");
  const std::size_t line = column_of(table, "line");
  FATHOM_ASSIGN(const std::int64_t until, recorded_until(store));
  SourceText sources(until);
  const bool ours = is_of_this_host(store);
  table.columns.push_back({"source"});
  for (auto& row : table.rows) {
    const std::optional<std::string> text =
        ours ? sources.line(text_of(row[file]), int_of(row[line])) : std::nullopt;
    row.push_back(text ? Value(escape_invalid_utf8(*text)) : Value());
  }
  if (sources.changed() > 0) {
    const std::string before = table.note.empty() ? "" : table.note + "; ";
    table.note = before + counted(sources.changed(), "file") +
                 " changed since the recording: no source is shown";
  }
  return {};
}

Result<Report> run_lines(Store& store, const ViewOptions& options) {
  FATHOM_ASSIGN(Report report, ranked(store, options, lines_sql(), "self DESC, file, line",
                                      "Source lines by sampled time", "lines"));
  Table& table = report.sections[0].table;
  FATHOM_ASSIGN(const SampledEvent sampled, sampled_event(store));
  set_measures(table, {{"self", sampled.measure}, {"samples", kCount}});
  FATHOM_TRY(add_source(store, table));
  if (table.rows.empty())
    table.note = "no sample has a source line: programs built with -g have them";
  add_note(table, sampled.note);
  return report;
}

Result<Report> run_nodes(Store& store, const ViewOptions& options) {
  FATHOM_ASSIGN(Report report, ranked(store, options, nodes_sql(), "\"count\" DESC, node, event",
                                      "Nodes by event", "nodes"));
  Table& table = report.sections[0].table;
  FATHOM_ASSIGN(const SampledEvent sampled, sampled_event(store));
  set_measures(table, {{"count", sampled.measure_of_all}});
  const std::size_t event = column_of(table, "event");
  const bool has_time = std::ranges::any_of(
      table.rows, [&](const auto& row) { return is_time_event(text_of(row[event])); });
  if (has_time && sampled.measure_of_all == kCount)
    add_note(table, "of clocks and off-cpu, count is ns");
  return report;
}

std::string sql_of_hot() { return hot_sql({}); }

}  // namespace

extern const ViewDef kHotView;
const ViewDef kHotView = {
    .name = "hot",
    .help = "sampled functions by self time",
    .by = kBy,
    .run = run_hot,
    .sql = sql_of_hot,
};

extern const ViewDef kLinesView;
const ViewDef kLinesView = {
    .name = "lines",
    .help = "sampled source lines by self time, with their text where the file is there",
    .by = {},
    .run = run_lines,
    .sql = lines_sql,
};

extern const ViewDef kNodesView;
const ViewDef kNodesView = {
    .name = "nodes",
    .help = "sampled functions by event, as profiling-framework counts them",
    .by = {},
    .run = run_nodes,
    .sql = nodes_sql,
};

}  // namespace fathom::analysis
