// SPDX-License-Identifier: MIT
// Layers: the time in each, what was recorded and why not, and what was lost.
#include <fmt/format.h>

#include "analysis/contract.h"
#include "analysis/view_tools.h"
#include "analysis/views/tables.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

using enum Measure;

// Top down, and what the design does not know last.
std::string layer_order() {
  std::string text = "CASE layer";
  int number = 0;
  for (const std::string_view layer : layer_names()) {
    text += fmt::format(" WHEN '{}' THEN {}", layer, number++);
  }
  return text + fmt::format(" ELSE {} END", number);
}

Result<Report> run_layers(Store& store, const ViewOptions&) {
  FATHOM_ASSIGN(Table time, layer_time_table(store));
  FATHOM_ASSIGN(Table layers, layers_table(store));
  return Report{.words = {}, .sections = {{std::move(time)}, {std::move(layers)}}};
}

Result<Report> run_losses(Store& store, const ViewOptions&) {
  FATHOM_ASSIGN(Table losses, losses_table(store));
  return Report{.words = {}, .sections = {{std::move(losses)}}};
}

}  // namespace

Result<Table> layer_time_table(Store& store) {
  FATHOM_ASSIGN(const TimeBase base, time_base(store));
  FATHOM_ASSIGN(
      Table table,
      store.query("WITH walls AS (SELECT layer, sum(covered) AS wall FROM coverage GROUP BY layer) "
                  "SELECT layer, CAST(any_value(wall) AS BIGINT) AS wall, "
                  "CAST(sum(self) AS BIGINT) AS self, NULL AS share, "
                  "CAST(sum(dur) AS BIGINT) AS total, CAST(sum(calls) AS BIGINT) AS calls, "
                  "CAST(sum(errors) AS BIGINT) AS errors, CAST(sum(bytes) AS BIGINT) AS bytes "
                  "FROM summary LEFT JOIN walls USING (layer) GROUP BY layer ORDER BY " +
                  layer_order()));
  table.title = "Time by layer";
  set_measures(table, {{"wall", kNanoseconds},
                       {"self", kNanoseconds},
                       {"share", kPercent},
                       {"total", kNanoseconds},
                       {"calls", kCount},
                       {"errors", kCount},
                       {"bytes", kBytes}});
  for (auto& row : table.rows) row[3] = percent_of(int_of(row[2]), base.thread_time);
  const std::int64_t outside = base.thread_time - base.in_calls;
  table.rows.push_back({std::string("(outside recorded calls)"), Value(), outside,
                        percent_of(outside, base.thread_time), Value(), Value(), Value(), Value()});
  table.note = fmt::format(
      "wall: of {}, some thread was in it; self: all threads' time in it without the calls inside "
      "a "
      "call, total: with them; 100 % is {}, the life of {} {}",
      human_ns(static_cast<double>(base.wall)), human_ns(static_cast<double>(base.thread_time)),
      base.threads, base.threads == 1 ? "thread" : "threads");
  return table;
}

Result<Table> layers_table(Store& store) {
  FATHOM_ASSIGN(Table table, store.query("SELECT layer, state, events, reason FROM layers"));
  table.title = "Layers";
  set_measures(table, {{"events", kCount}});
  return table;
}

Result<Table> losses_table(Store& store) {
  FATHOM_ASSIGN(Table table, store.query("SELECT CASE layer WHEN '' THEN 'all' ELSE layer END AS "
                                         "layer, reason, \"count\" FROM losses ORDER BY 3 DESC"));
  table.title = "Losses";
  set_measures(table, {{"count", kCount}});
  if (table.rows.empty()) table.note = "nothing was lost";
  return table;
}

extern const ViewDef kLayersView;
const ViewDef kLayersView = {
    .name = "layers",
    .help = "time in each layer, and what was recorded or why not",
    .by = {},
    .run = run_layers,
};

extern const ViewDef kLossesView;
const ViewDef kLossesView = {
    .name = "losses",
    .help = "what was dropped, cut or skipped, by reason",
    .by = {},
    .run = run_losses,
};

}  // namespace fathom::analysis
