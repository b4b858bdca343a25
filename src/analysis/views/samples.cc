// SPDX-License-Identifier: MIT
// Sampled stacks by function, by source line, and as profiling-framework's table of nodes.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/view_tools.h"

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

// What is waited for has views of its own.
constexpr char kOnCpu[] = "event IS DISTINCT FROM 'off-cpu'";

std::string stacks_sql(bool all_events) {
  return fmt::format(kStacks, all_events ? "true" : kOnCpu);
}

// A function that calls itself counts once for a stack.
std::string hot_sql(const std::vector<std::string>& by) {
  std::vector<std::string> further = by;
  std::erase(further, "module");
  const bool by_event = std::ranges::find(further, "event") != further.end();
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
  set_measures(report.sections[0].table,
               {{"self", kNanoseconds}, {"total", kNanoseconds}, {"samples", kCount}});
  return report;
}

Result<Report> run_lines(Store& store, const ViewOptions& options) {
  FATHOM_ASSIGN(Report report, ranked(store, options, lines_sql(), "self DESC, file, line",
                                      "Source lines by sampled time", "lines"));
  Table& table = report.sections[0].table;
  set_measures(table, {{"self", kNanoseconds}, {"samples", kCount}});
  if (table.rows.empty())
    table.note = "no sample has a source line: programs built with -g have them";
  return report;
}

Result<Report> run_nodes(Store& store, const ViewOptions& options) {
  FATHOM_ASSIGN(Report report, ranked(store, options, nodes_sql(), "\"count\" DESC, node, event",
                                      "Nodes by event", "nodes"));
  set_measures(report.sections[0].table, {{"count", kCount}});
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
    .help = "sampled source lines by self time",
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
