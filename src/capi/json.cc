// SPDX-License-Identifier: MIT
// Builds the JSON texts of the C interface. JSON and not structs, so that a field can be added
// without a new ABI. Results of queries can also be taken as Arrow, see capi/query.cc.
#include "capi/json.h"

#include <optional>

#include "analysis/contract.h"
#include "analysis/facts.h"
#include "render/json_writer.h"
#include "render/render.h"
#include "trace/recording/manifest.h"

namespace fathom::capi {
namespace {

using render::JsonWriter;

void write_texts(JsonWriter& json, const std::vector<std::string>& texts) {
  json.begin_array();
  for (const std::string& text : texts) json.value(text);
  json.end_array();
}

// A row is an array, not an object: names of columns are in the answer once.
void write_rows(JsonWriter& json, const Table& table) {
  json.begin_array();
  for (const auto& row : table.rows) {
    json.begin_array();
    for (const Value& cell : row) json.value(cell);
    json.end_array();
  }
  json.end_array();
}

// `shift` puts several recordings on one line of time. Files of the tail have no path: nobody else
// could open them, so they are left out.
void write_part(JsonWriter& json, const trace::Part& part, std::int64_t shift) {
  json.begin_object();
  json.key("directory").value(part.directory);
  json.key("state").value(trace::to_text(analysis::state_of(part)));
  json.key("shift").value(shift);
  json.key("manifest").value(trace::format_manifest(part.manifest));
  json.key("files").begin_object();
  for (const auto& [table, files] : part.files) {
    json.key(table).begin_array();
    for (const trace::DataFile& file : files) {
      if (!file.path.empty()) json.value(file.path);
    }
    json.end_array();
  }
  json.end_object();
  json.key("damaged").begin_array();
  for (const trace::DamagedFile& file : part.damaged) {
    json.begin_object().key("path").value(file.path).key("reason").value(file.reason).end_object();
  }
  json.end_array().end_object();
}

const char* role_name(analysis::ColumnRole role) {
  switch (role) {
    case analysis::ColumnRole::kPlain:
      return "";
    case analysis::ColumnRole::kTime:
      return "time";
    case analysis::ColumnRole::kAbsent:
      return "absent";
    case analysis::ColumnRole::kSelf:
      return "self";
    case analysis::ColumnRole::kTimed:
      return "timed";
  }
  return "";
}

// The views of the SQL contract with the types of their columns, so that Python can make empty
// frames of the right types and knows which columns are times.
void write_contract(JsonWriter& json) {
  json.begin_object();
  for (const analysis::ViewSpec& view : analysis::recorded_views()) {
    json.key(view.name).begin_array();
    for (const analysis::ColumnSpec& column : view.columns) {
      json.begin_array().value(column.name).value(column.type).value(role_name(column.role));
      json.end_array();
    }
    json.end_array();
  }
  json.end_object();
}

void write_insight(JsonWriter& json, const analysis::Insight& insight) {
  json.begin_object();
  json.key("rule").value(insight.rule);
  json.key("severity").value(analysis::severity_name(insight.severity));
  json.key("title").value(insight.title);
  json.key("says").value(insight.says);
  json.key("gain_ns").value(insight.gain_ns ? Value(*insight.gain_ns) : Value());
  json.key("gain").value(insight.gain);
  json.key("advice").value(insight.advice);
  json.end_object();
}

// With the table as `fathom report` prints it: Python's repr is the same text, and measures of
// columns let whoever formats the numbers anew do so.
void write_table(JsonWriter& json, const Table& table) {
  json.begin_object();
  json.key("title").value(table.title);
  json.key("columns").begin_array();
  for (const Column& column : table.columns) json.value(column.name);
  json.end_array();
  json.key("measures").begin_array();
  for (const Column& column : table.columns) json.value(unit_of(column.measure));
  json.end_array();
  write_rows(json.key("rows"), table);
  json.key("note").value(table.note);
  json.key("text").value(render::render(table, render::Format::kTable));
  json.end_object();
}

}  // namespace

std::string description_json(analysis::Store& store) {
  std::string out;
  JsonWriter json(out);
  const std::vector<trace::Part>& parts = store.parts();
  const std::vector<std::int64_t> shifts = analysis::shifts_of(parts);
  json.begin_object();
  json.key("state").value(trace::to_text(store.state()));
  json.key("packed").value(store.packed());
  json.key("parts").begin_array();
  for (std::size_t i = 0; i < parts.size(); ++i) write_part(json, parts[i], shifts[i]);
  json.end_array();
  write_contract(json.key("tables"));
  json.end_object();
  return out;
}

std::string views_json() {
  std::string out;
  JsonWriter json(out);
  json.begin_array();
  for (const analysis::ViewDef* view : analysis::views()) {
    json.begin_object().key("name").value(view->name).key("help").value(view->help);
    json.key("by").begin_array();
    for (const std::string_view by : view->by) json.value(by);
    json.end_array();
    json.key("of_events").value(view->of_events);
    json.key("plain_of_sums").value(view->plain_of_sums).end_object();
  }
  json.end_array();
  return out;
}

std::string report_json(const analysis::Report& report) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  write_texts(json.key("words"), report.words);
  json.key("insights").begin_array();
  for (const analysis::Insight& insight : report.insights) write_insight(json, insight);
  json.end_array();
  json.key("tables").begin_array();
  for (const analysis::Section& section : report.sections) write_table(json, section.table);
  json.end_array();
  json.key("of_part").value(report.of_part).end_object();
  return out;
}

std::string columns_json(const std::vector<std::string>& columns) {
  std::string out;
  JsonWriter json(out);
  write_texts(json, columns);
  return out;
}

std::string rows_json(const Table& rows) {
  std::string out;
  JsonWriter json(out);
  write_rows(json, rows);
  return out;
}

}  // namespace fathom::capi
