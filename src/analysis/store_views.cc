// SPDX-License-Identifier: MIT
// Unites Parquet files and tails into one view for each table. Files that DuckDB cannot open are
// set aside and reported instead of failing the question.
#include "analysis/store_views.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "analysis/contract.h"
#include "analysis/facts.h"
#include "analysis/insights/rule_views.h"
#include "analysis/missing_columns.h"
#include "analysis/report.h"
#include "base/files.h"
#include "sql/parquet_writer.h"
#include "sql/quote.h"
#include "trace/recording/parquet_tables.h"
#include "trace/rows/layers.h"

namespace fathom::analysis {
namespace {

using trace::Part;
using trace::SqlBatch;

std::string tail_table(std::size_t part, std::string_view view) {
  return "tail_" + std::to_string(part) + "_" + std::string(view);
}

Status register_tail(sql::Connection& connection, std::size_t number, const Part& part) {
  const trace::Tail& tail = *part.tail;
  const std::string& host = part.manifest.host.hostname;
  const auto add = [&](const char* table, const SqlBatch& rows) {
    return sql::register_table(connection, tail_table(number, table), rows.batch());
  };
  FATHOM_TRY(add(trace::kEventsTable, SqlBatch::events(tail.events, tail.strings, host)));
  FATHOM_TRY(add(trace::kCountersTable, SqlBatch::counters(tail.counters, tail.strings, host)));
  FATHOM_TRY(add(trace::kIntervalsTable, SqlBatch::intervals(tail.intervals, tail.strings, host)));
  FATHOM_TRY(add(trace::kSamplesTable, SqlBatch::samples(tail.samples, tail.strings, host)));
  FATHOM_TRY(add(trace::kFramesTable, SqlBatch::frames(tail.frames, tail.strings)));
  FATHOM_TRY(add(trace::kProcessesTable, SqlBatch::processes(tail.processes)));
  FATHOM_TRY(add(trace::kThreadsTable, SqlBatch::threads(tail.threads)));
  FATHOM_TRY(add(trace::kSummaryTable, SqlBatch::summary(tail.summary, tail.strings, host)));
  FATHOM_TRY(add(trace::kCoverageTable, SqlBatch::coverage(tail.coverage, tail.strings, host)));
  return add(trace::kTimelineTable, SqlBatch::timeline(tail.timeline, tail.strings, host));
}

bool tail_has(std::string_view view) {
  constexpr std::string_view kOfTail[] = {
      trace::kEventsTable,   trace::kCountersTable,  trace::kIntervalsTable, trace::kSamplesTable,
      trace::kFramesTable,   trace::kProcessesTable, trace::kThreadsTable,   trace::kSummaryTable,
      trace::kTimelineTable, trace::kCoverageTable};
  return std::ranges::find(kOfTail, view) != std::end(kOfTail);
}

std::string parquet_source(const std::vector<std::string>& files) {
  return "read_parquet(" + sql::quote_list(files) + ")";
}

// The parts of a view that stand behind each other.
std::vector<std::string> branches_of(const ViewSpec& view, const std::vector<Part>& parts,
                                     const std::vector<std::int64_t>& shifts) {
  // By shift and schema: few statements for many ranks.
  std::map<std::pair<std::int64_t, int>, std::vector<std::string>> files_alike;
  std::vector<std::string> branches;
  std::vector<std::string> tails;  // behind what was packed before, as time goes
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto files = parts[i].files.find(std::string(view.name));
    if (files != parts[i].files.end()) {
      std::vector<std::string>& list = files_alike[{shifts[i], parts[i].manifest.schema}];
      for (const trace::DataFile& file : files->second) list.push_back(file.source);
    }
    const bool in_tail = parts[i].tail != nullptr && tail_has(view.name);
    if (in_tail)
      tails.push_back(
          select_from(view, tail_table(i, view.name), shifts[i], trace::kSchemaVersion));
  }
  for (const auto& [alike, files] : files_alike) {
    const auto& [shift, schema] = alike;
    if (!files.empty()) branches.push_back(select_from(view, parquet_source(files), shift, schema));
  }
  branches.insert(branches.end(), tails.begin(), tails.end());
  return branches;
}

Status create_view(sql::Connection& connection, const ViewSpec& view,
                   const std::vector<Part>& parts, const std::vector<std::int64_t>& shifts) {
  std::string text;
  for (const std::string& branch : branches_of(view, parts, shifts)) {
    text += (text.empty() ? "" : " UNION ALL ") + branch;
  }
  if (text.empty()) text = select_nothing(view);
  return connection.execute("CREATE OR REPLACE VIEW " + std::string(view.name) + " AS " + text);
}

// The database's words, with the file's path in place of its descriptor.
std::string reason_without(const Error& error, const trace::DataFile& file) {
  std::string reason = error.message;
  const std::size_t at = reason.find(file.source);
  return at == std::string::npos ? reason : reason.replace(at, file.source.size(), file.path);
}

// Takes files out of the recording that the database cannot open as this table.
void set_aside(sql::Connection& connection, const ViewSpec& view, Part& part) {
  const auto found = part.files.find(std::string(view.name));
  if (found == part.files.end()) return;
  std::erase_if(found->second, [&](const trace::DataFile& file) {
    const std::string from = "read_parquet([" + sql::quote_literal(file.source) + "])";
    const Result<Table> opened =
        connection.query(select_from(view, from, 0, part.manifest.schema) + " LIMIT 0");
    if (!opened) {
      const std::string lacks = missing_columns(file, view.name, part.manifest.schema);
      part.damaged.push_back(
          {.path = file.path,
           .reason = lacks.empty() ? reason_without(opened.error(), file) : lacks});
    }
    return !opened.has_value();
  });
}

Status create_sound_view(sql::Connection& connection, const ViewSpec& view,
                         std::vector<Part>& parts, const std::vector<std::int64_t>& shifts) {
  if (create_view(connection, view, parts, shifts)) return {};
  for (Part& part : parts) set_aside(connection, view, part);
  return create_view(connection, view, parts, shifts);
}

// What was counted while recording is more than what is there when a file is damaged. Tails have
// their events in `events`, or only in their sums.
Status recount(sql::Connection& connection, const std::vector<Part>& parts, trace::Need need,
               std::vector<trace::LayerState>& layers) {
  std::string counts =
      "SELECT layer, 1 AS n FROM events UNION ALL SELECT layer, 1 FROM counters "
      "UNION ALL SELECT layer, 1 FROM intervals UNION ALL SELECT " +
      sql::quote_literal(trace::kSampledLayer) + ", 1 FROM samples";
  for (std::size_t i = 0; i < parts.size() && need == trace::Need::kSums; ++i) {
    if (parts[i].tail == nullptr) continue;
    counts += " UNION ALL SELECT layer, calls FROM " + tail_table(i, trace::kSummaryTable);
  }
  FATHOM_ASSIGN(const Table rows, connection.query("SELECT layer, CAST(sum(n) AS BIGINT) FROM (" +
                                                   counts + ") GROUP BY layer"));
  for (trace::LayerState& layer : layers) {
    layer.events = 0;
    for (const auto& row : rows.rows) {
      const auto* name = std::get_if<std::string>(&row[0].data);
      const auto* count = std::get_if<std::int64_t>(&row[1].data);
      if (name != nullptr && count != nullptr && *name == layer.layer) layer.events = *count;
    }
    if (layer.events == 0 && layer.reason.empty())
      layer.reason = "nothing in the files that are sound";
  }
  return {};
}

// A small table of texts and one column of numbers, of which any may be empty.
class SmallTable {
 public:
  void text(const std::string& name, std::vector<std::string> values) {
    rows_ = values.size();
    texts_.push_back(std::move(values));
    names_.push_back(name);
  }
  Status create(sql::Connection& connection, const std::string& table, const std::string& number,
                std::span<const std::int64_t> numbers) {
    std::vector<std::vector<std::string_view>> views;
    for (const auto& column : texts_) views.emplace_back(column.begin(), column.end());
    std::vector<sql::ColumnDef> columns;
    std::vector<sql::ColumnData> data;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      columns.push_back({.name = names_[i], .kind = sql::ColumnKind::kText});
      data.push_back({.texts = views[i]});
    }
    if (!number.empty()) {
      columns.push_back({.name = number, .kind = sql::ColumnKind::kInt64});
      data.push_back({.int64s = numbers});
    }
    return sql::register_table(connection, table,
                               {.columns = columns, .data = data, .rows = rows_});
  }

 private:
  std::size_t rows_ = 0;
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> texts_;
};

template <class Row, class Get>
std::vector<std::string> texts_of(const std::vector<Row>& rows, Get get) {
  std::vector<std::string> texts;
  for (const Row& row : rows) texts.emplace_back(get(row));
  return texts;
}

Status make_layers(sql::Connection& connection, const std::vector<Part>& parts,
                   const ViewNeeds& needs) {
  std::vector<trace::LayerState> layers = layers_of(parts);
  const bool damaged =
      std::ranges::any_of(parts, [](const Part& part) { return !part.damaged.empty(); });
  if (damaged) {
    FATHOM_TRY(needs.bring_all());
    FATHOM_TRY(recount(connection, parts, needs.need, layers));
  }
  std::vector<std::int64_t> events;
  for (const trace::LayerState& layer : layers) events.push_back(layer.events);
  SmallTable table;
  table.text("layer", texts_of(layers, [](const auto& row) { return row.layer; }));
  table.text("state", texts_of(layers, [](const auto& row) { return row.state; }));
  table.text("reason", texts_of(layers, [](const auto& row) { return row.reason; }));
  return table.create(connection, "layers", "events", events);
}

Status make_losses(sql::Connection& connection, const std::vector<Part>& parts) {
  const std::vector<trace::Loss> losses = losses_of(parts);
  std::vector<std::int64_t> counts;
  for (const trace::Loss& loss : losses) counts.push_back(loss.count);
  SmallTable table;
  table.text("layer", texts_of(losses, [](const auto& row) { return row.layer; }));
  table.text("reason", texts_of(losses, [](const auto& row) { return row.reason; }));
  return table.create(connection, "losses", "count", counts);
}

Status make_run(sql::Connection& connection, const std::vector<Part>& parts) {
  const auto facts = run_facts(parts);
  SmallTable table;
  table.text("key", texts_of(facts, [](const auto& row) { return row.first; }));
  table.text("value", texts_of(facts, [](const auto& row) { return row.second; }));
  return table.create(connection, "run", "", {});
}

}  // namespace

Status create_report_view(sql::Connection& connection, const ViewDef& view) {
  return connection.execute("CREATE OR REPLACE VIEW " + std::string(name_in_sql(&view)) + " AS " +
                            view.sql());
}

Status make_views(sql::Connection& connection, std::vector<Part>& parts,
                  const std::vector<std::int64_t>& shifts, const ViewNeeds& needs) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].tail != nullptr) FATHOM_TRY(register_tail(connection, i, parts[i]));
  }
  for (const ViewSpec& view : recorded_views()) {
    FATHOM_TRY(create_sound_view(connection, view, parts, shifts));
  }
  FATHOM_TRY(make_run(connection, parts));
  FATHOM_TRY(create_rule_views(connection, known_wall_ns(parts, shifts)));
  for (const ViewDef* view : views()) {
    if (view->for_rules) FATHOM_TRY(create_report_view(connection, *view));
  }
  FATHOM_TRY(make_layers(connection, parts, needs));
  // A view that shows only some of the events would lie.
  const bool unpacked =
      std::ranges::any_of(parts, [](const Part& part) { return part.tail != nullptr; });
  if (needs.need == trace::Need::kSums && unpacked)
    FATHOM_TRY(connection.execute("DROP VIEW events"));
  return make_losses(connection, parts);
}

}  // namespace fathom::analysis
