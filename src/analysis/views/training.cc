// SPDX-License-Identifier: MIT
// A training: how long a step takes, and how much of the time waits for data, computes, saves, or
// compiles.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analysis/view_tools.h"
#include "analysis/walk/training_pass.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kRows = 50;
constexpr std::string_view kBy[] = {"rank", "pid"};

// What others load, in the same process or in its children, is for the thread that trains, and no
// wait.
constexpr char kPieces[] = R"(
    WITH trainers AS (SELECT DISTINCT host, pid FROM training_tasks WHERE trains > 0),
    lives AS (
      SELECT host, pid, any_value(ppid) AS ppid, any_value(rank) AS rank FROM processes
      GROUP BY host, pid),
    homes AS (
      SELECT t.host, t.pid, coalesce(own.pid, parent.pid) AS home
      FROM (SELECT DISTINCT host, pid FROM training_tasks) t
      LEFT JOIN lives l ON l.pid = t.pid AND l.host IS NOT DISTINCT FROM t.host
      LEFT JOIN trainers own ON own.pid = t.pid AND own.host IS NOT DISTINCT FROM t.host
      LEFT JOIN trainers parent ON parent.pid = l.ppid AND parent.host IS NOT DISTINCT FROM t.host),
    tasks AS (
      SELECT t.*, home FROM training_tasks t
      JOIN homes h ON h.pid = t.pid AND h.host IS NOT DISTINCT FROM t.host),
    pieces AS (
      SELECT host, home AS pid, CAST(NULL AS BIGINT) AS step, * EXCLUDE (host, pid, tid, home),
             CAST(NULL AS BIGINT) AS loading
      FROM tasks WHERE trains > 0
      UNION ALL BY NAME
      SELECT host, home AS pid, data AS loading FROM tasks WHERE trains = 0 AND home IS NOT NULL
      UNION ALL BY NAME
      SELECT host, pid, dur AS step FROM training_steps),)";

constexpr char kGrouped[] = R"(
    grouped AS (
      SELECT CASE grouping(rank, pid) WHEN 0 THEN 'process' WHEN 1 THEN 'rank' ELSE 'run' END
               AS scope, host, pid, rank, sum(steps) AS steps,
             quantile_cont(step, [0.5, 0.95, 0.99]) AS step, max(longest) AS longest,
             sum(time) AS time, sum(busy) AS busy, sum(data) AS data, sum(loading) AS loading,
             sum(forward) AS forward, sum(backward) AS backward, sum(optimizer) AS optimizer,
             sum(checkpoint) AS checkpoint, sum(compile) AS compile
      FROM pieces LEFT JOIN (SELECT host AS there, pid AS who, rank FROM lives)
        ON who = pid AND there IS NOT DISTINCT FROM host
      GROUP BY GROUPING SETS ((), (rank), (host, pid, rank)) HAVING sum(time) > 0))";

std::string sql() {
  const auto whole = [](std::string_view what, std::string_view name) {
    return fmt::format(", CAST(coalesce({}, 0) AS BIGINT) AS {}", what, name);
  };
  std::string columns = "scope, host, pid, rank" + whole("steps", "steps");
  columns += ", CAST(step[1] AS BIGINT) AS step_p50, CAST(step[2] AS BIGINT) AS step_p95, ";
  columns += "CAST(step[3] AS BIGINT) AS step_p99, longest AS step_max";
  columns += whole("time", "time") + whole("data", "data");
  columns += whole(
      "coalesce(busy, 0) - coalesce(data, 0) - coalesce(checkpoint, 0) - coalesce(compile, 0)",
      "compute");
  for (const std::string_view one : {"forward", "backward", "optimizer", "checkpoint", "compile"})
    columns += whole(one, one);
  columns += whole("time - coalesce(busy, 0)", "other") + whole("loading", "loading");
  return fmt::format("{}{} SELECT {}, 100.0 * coalesce(data, 0) / time AS stall FROM grouped",
                     kPieces, kGrouped, columns);
}

// A row for the run, which the words are about, and one for each rank or process.
struct Rows {
  std::optional<std::vector<Value>> run;
  Table table;
};

bool has_rank(const Table& all) {
  const std::size_t rank = column_of(all, "rank");
  return std::ranges::any_of(all.rows, [&](const auto& row) { return !row[rank].is_null(); });
}

Rows split(Table all, std::string_view scope) {
  const std::size_t at = column_of(all, "scope");
  Rows rows;
  for (std::vector<Value>& row : all.rows) {
    if (text_of(row[at]) == "run") rows.run = row;
    if (text_of(row[at]) == scope) rows.table.rows.push_back(std::move(row));
  }
  rows.table.columns = std::move(all.columns);
  return rows;
}

void drop_column(Table& table, std::string_view name) {
  const auto at = static_cast<std::ptrdiff_t>(column_of(table, name));
  table.columns.erase(table.columns.begin() + at);
  for (std::vector<Value>& row : table.rows) row.erase(row.begin() + at);
}

std::string words_of(const Table& table, const std::vector<Value>& run) {
  const auto number = [&](std::string_view name) { return int_of(run[column_of(table, name)]); };
  const auto share = [&](std::string_view name) {
    return 100.0 * static_cast<double>(number(name)) / static_cast<double>(number("time"));
  };
  std::string text = fmt::format(
      "Of the training time {:.1f} % waited for data, {:.1f} % computed and {:.1f} % went to "
      "checkpoints.",
      share("data"), share("compute"), share("checkpoint"));
  if (number("compile") > 0)
    text += fmt::format(" Compilation took {}, {:.1f} %.",
                        human_ns(static_cast<double>(number("compile"))), share("compile"));
  const auto time = [&](std::string_view name) {
    return human_ns(static_cast<double>(number(name)));
  };
  if (number("steps") == 0) return text + " No step was recorded.";
  if (number("steps") == 1) return fmt::format("1 step took {}. {}", time("step_max"), text);
  return fmt::format("{} steps took {} each (the median), the slowest {}. {}", number("steps"),
                     time("step_p50"), time("step_max"), text);
}

// The run's time by what it went to.
Table parts_of(const Table& table, const std::vector<Value>& run) {
  const auto number = [&](std::string_view name) { return int_of(run[column_of(table, name)]); };
  Table parts;
  parts.title = "Where the time of training goes";
  parts.columns = {{"phase"}, {"time", kNanoseconds}, {"share", kPercent}};
  const auto add = [&](std::string_view phase, std::int64_t time) {
    if (time > 0)
      parts.rows.push_back({std::string(phase), time, percent_of(time, number("time"))});
  };
  std::int64_t compute = number("compute");
  add("data", number("data"));
  for (const std::string_view phase : {"forward", "backward", "optimizer"}) {
    add(phase, number(phase));
    compute -= number(phase);
  }
  add("other compute", compute);
  add("compile", number("compile"));
  add("checkpoint", number("checkpoint"));
  add("other", number("other"));
  return parts;
}

void dress(Table& table, std::string_view scope, std::int64_t wanted) {
  table.title = scope == "rank" ? "Training by rank" : "Training by process";
  for (const char* name : {"scope", "step_max", "forward", "backward", "optimizer"})
    drop_column(table, name);
  if (scope == "rank") {
    drop_column(table, "host");
    drop_column(table, "pid");
  }
  const auto all = static_cast<std::int64_t>(table.rows.size());
  if (wanted > 0 && all > wanted) table.rows.resize(static_cast<std::size_t>(wanted));
  set_measures(table, {{"steps", kCount},
                       {"step_p50", kNanoseconds},
                       {"step_p95", kNanoseconds},
                       {"step_p99", kNanoseconds},
                       {"time", kNanoseconds},
                       {"data", kNanoseconds},
                       {"compute", kNanoseconds},
                       {"checkpoint", kNanoseconds},
                       {"compile", kNanoseconds},
                       {"other", kNanoseconds},
                       {"loading", kNanoseconds},
                       {"stall", kPercent}});
  table.note =
      all == 0
          ? "no step, epoch or forward pass was recorded; use fathom run -- python3 -m "
            "fathom.torch "
            "train.py (or fathom.jax, fathom.tensorflow, fathom.keras), elsewhere annotate regions "
            "with these names (docs/python.md)"
          : "data: time waiting for data; stall: its share; loading: data loaded meanwhile by "
            "other threads and processes";
  note_left_out(table, all, scope == "rank" ? "ranks" : "processes");
}

Result<Report> run(Store& store, const ViewOptions& options) {
  FATHOM_TRY(store.ensure(make_training));
  FATHOM_ASSIGN(Table all, store.query("FROM training ORDER BY rank, time DESC, host, pid"));
  std::string scope = has_rank(all) ? "rank" : "process";
  Report report;
  if (!options.by.empty() && options.by.back() == "pid") scope = "process";
  if (!options.by.empty() && options.by.back() == "rank" && scope != "rank" && !all.rows.empty())
    report.words.emplace_back("No process has a rank: processes are shown instead.");
  Rows rows = split(std::move(all), scope);
  Table parts;
  if (rows.run) {
    report.words.push_back(words_of(rows.table, *rows.run));
    parts = parts_of(rows.table, *rows.run);
  }
  dress(rows.table, scope, rows_wanted(options, kRows));
  report.sections.push_back({std::move(rows.table)});
  if (!parts.rows.empty()) report.sections.push_back({std::move(parts)});
  return report;
}

}  // namespace

extern const ViewDef kTrainingView;
const ViewDef kTrainingView = {
    .name = "training",
    .help = "training steps: duration, waits for data, computation, checkpoints, compilation",
    .by = kBy,
    .run = run,
    .sql = sql,
    .make = make_training,
    .of_events = true,
};

}  // namespace fathom::analysis
