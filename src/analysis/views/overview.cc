// SPDX-License-Identifier: MIT
// The first report: where the time went, in words and in one table for each way to look at it.
#include "analysis/view_tools.h"
#include "analysis/views/functions.h"
#include "analysis/views/tables.h"
#include "analysis/words.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

constexpr std::int64_t kRows = 10;
constexpr char kIo[] = "category IN ('read', 'write') AND bytes IS NOT NULL";

// Layers that nobody recorded are told in one line.
Table short_layers(Table layers) {
  std::vector<std::string> absent;
  std::erase_if(layers.rows, [&](const std::vector<Value>& row) {
    const std::string state = text_of(row[1]);
    const bool silent = state != "on" && state != "partial" && int_of(row[2]) == 0;
    if (silent) absent.push_back(text_of(row[0]));
    return silent;
  });
  if (!absent.empty()) {
    layers.note =
        "not recorded: " + join(absent, ", ") + "; 'fathom report TRACE layers' shows why";
  }
  return layers;
}

void add(Report& report, Table table, Shape shape = Shape::kTable, std::string_view id = {}) {
  if (!table.rows.empty()) report.sections.push_back({std::move(table), shape, id});
}

Status add_calls(Store& store, Report& report, std::int64_t rows) {
  FATHOM_ASSIGN(Table functions, functions_table(store, {"name", "layer"}, rows));
  functions.title = "Top functions";
  add(report, std::move(functions), Shape::kTable, kFunctionsSection);
  FATHOM_ASSIGN(Table files, files_table(store, {}, rows));
  files.title = "Top files";
  add(report, std::move(files));
  FATHOM_ASSIGN(Table sizes, histogram_table(store, {.column = "sizes",
                                                     .measure = Measure::kBytes,
                                                     .by = {"layer", "category"},
                                                     .where = kIo}));
  sizes.title = "I/O sizes";
  add(report, std::move(sizes), Shape::kBars);
  FATHOM_ASSIGN(Table latencies, histogram_table(store, {.column = "hist",
                                                         .measure = Measure::kNanoseconds,
                                                         .by = {"layer", "category"},
                                                         .where = kIo}));
  latencies.title = "I/O latencies";
  add(report, std::move(latencies), Shape::kBars);
  return {};
}

Result<Report> run(Store& store, const ViewOptions& options) {
  const std::int64_t rows = rows_wanted(options, kRows);
  FATHOM_ASSIGN(const TimeBase base, time_base(store));
  Report report;
  // Nothing is laid over the calls where nobody sampled: there may be many.
  FATHOM_ASSIGN(const bool accounted, is_accounted(store));
  Table time;
  if (accounted) {
    FATHOM_ASSIGN(time, time_table(store));
  }
  FATHOM_ASSIGN(report.words, words_about(store, base, time));
  FATHOM_ASSIGN(report.insights, find_insights(store, options.rules));
  keep_top(time, rows);
  add(report, std::move(time), Shape::kTable, kTimeSection);
  if (base.events > 0) {
    FATHOM_ASSIGN(Table layers, layer_time_table(store));
    add(report, std::move(layers));
    FATHOM_TRY(add_calls(store, report, rows));
    FATHOM_ASSIGN(Section timeline, timeline_section(store));
    report.sections.push_back(std::move(timeline));
  }
  FATHOM_ASSIGN(Table processes, processes_table(store, rows));
  add(report, std::move(processes));
  FATHOM_ASSIGN(std::vector<Section> resources, resource_sections(store, false));
  for (Section& section : resources) report.sections.push_back(std::move(section));
  FATHOM_ASSIGN(Table layers, layers_table(store));
  report.sections.push_back({short_layers(std::move(layers))});
  FATHOM_ASSIGN(Table losses, losses_table(store));
  add(report, std::move(losses));
  return report;
}

}  // namespace

extern const ViewDef kOverviewView;
const ViewDef kOverviewView = {
    .name = "overview",
    .help = "where the time went, at a glance",
    .by = {},
    .run = run,
    .of_events = true,
};

}  // namespace fathom::analysis
