// SPDX-License-Identifier: MIT
// The columns of schema 3 as constants, with the few rules that files do not hold: times are
// shifted onto one line, a missing `self` equals `dur`, and calls without times have no shortest.
#include "analysis/contract.h"

#include <array>
#include <iterator>

#include "sql/quote.h"
#include "trace/rows/layers.h"

namespace fathom::analysis {
namespace {

using enum ColumnRole;

constexpr char kMap[] = "MAP(VARCHAR, VARCHAR)";

// The contract: a column may be added at the end of a table with the schema that has it (its last
// number), none is changed or removed. Older files have NULL there. docs/formats/recording.md says
// what each means.
constexpr ColumnSpec kEvents[] = {
    {"ts", "BIGINT", kTime}, {"dur", "BIGINT"},         {"host", "VARCHAR"},
    {"pid", "INTEGER"},      {"tid", "INTEGER"},        {"rank", "INTEGER"},
    {"layer", "VARCHAR"},    {"name", "VARCHAR"},       {"category", "VARCHAR"},
    {"depth", "INTEGER"},    {"file", "VARCHAR"},       {"fd", "INTEGER"},
    {"offset", "BIGINT"},    {"size", "BIGINT"},        {"bytes", "BIGINT"},
    {"ret", "BIGINT"},       {"error", "VARCHAR"},      {"device", "INTEGER"},
    {"stream", "BIGINT"},    {"correlation", "BIGINT"}, {"args", kMap},
    {"entry", "VARCHAR"},    {"self", "BIGINT", kSelf}, {"program", "VARCHAR", kPlain, 2},
};

constexpr ColumnSpec kIntervals[] = {
    {"ts", "BIGINT", kTime}, {"width", "BIGINT"},
    {"host", "VARCHAR"},     {"pid", "INTEGER"},
    {"tid", "INTEGER"},      {"layer", "VARCHAR"},
    {"name", "VARCHAR"},     {"file", "VARCHAR"},
    {"calls", "BIGINT"},     {"errors", "BIGINT"},
    {"dur", "BIGINT"},       {"dur_min", "BIGINT"},
    {"dur_max", "BIGINT"},   {"bytes", "BIGINT"},
    {"hist", "BIGINT[]"},    {"peer", "VARCHAR", kPlain, 3},
};

constexpr ColumnSpec kCounters[] = {
    {"ts", "BIGINT", kTime}, {"host", "VARCHAR"}, {"pid", "INTEGER"},  {"tid", "INTEGER"},
    {"layer", "VARCHAR"},    {"name", "VARCHAR"}, {"unit", "VARCHAR"}, {"value", "DOUBLE"},
};

constexpr ColumnSpec kSamples[] = {
    {"ts", "BIGINT", kTime}, {"host", "VARCHAR"}, {"pid", "INTEGER"},
    {"tid", "INTEGER"},      {"cpu", "INTEGER"},  {"event", "VARCHAR"},
    {"weight", "BIGINT"},    {"stack", "BIGINT"}, {"ready", "BIGINT", kPlain, 3},
};

constexpr ColumnSpec kFrames[] = {
    {"stack", "BIGINT"},
    {"depth", "INTEGER"},
    {"function", "VARCHAR"},
    {"module", "VARCHAR"},
    {"file", "VARCHAR"},
    {"line", "INTEGER"},
    {"build_id", "VARCHAR", kPlain, 3},
    {"offset", "BIGINT", kPlain, 3},
    {"address", "BIGINT", kPlain, 3},
};

constexpr ColumnSpec kProcesses[] = {
    {"host", "VARCHAR"},
    {"pid", "BIGINT"},
    {"ppid", "BIGINT"},
    {"tid", "BIGINT", kAbsent},
    {"name", "VARCHAR"},
    {"command", "VARCHAR"},
    {"start", "BIGINT", kTime},
    {"end", "BIGINT", kTime},
    {"exit", "BIGINT"},
    {"rank", "BIGINT"},
    {"container", "VARCHAR"},
    {"meta", kMap},
    {"nspid", "BIGINT", kPlain, 2},
    {"image", "BIGINT", kPlain, 2},
    {"process", "BIGINT", kPlain, 2},
    {"rung", "VARCHAR", kPlain, 3},
};

constexpr ColumnSpec kThreads[] = {
    {"host", "VARCHAR"},        {"pid", "BIGINT"},        {"ppid", "BIGINT", kAbsent},
    {"tid", "BIGINT"},          {"name", "VARCHAR"},      {"command", "VARCHAR", kAbsent},
    {"start", "BIGINT", kTime}, {"end", "BIGINT", kTime}, {"exit", "BIGINT", kAbsent},
    {"rank", "BIGINT"},         {"container", "VARCHAR"}, {"ready", "BIGINT", kPlain, 3},
};

constexpr ColumnSpec kSummary[] = {
    {"host", "VARCHAR"},
    {"layer", "VARCHAR"},
    {"name", "VARCHAR"},
    {"category", "VARCHAR"},
    {"file", "VARCHAR"},
    {"pid", "INTEGER"},
    {"calls", "BIGINT"},
    {"errors", "BIGINT"},
    {"dur", "BIGINT"},
    {"self", "BIGINT"},
    {"dur_min", "BIGINT", kTimed},
    {"dur_max", "BIGINT", kTimed},
    {"bytes", "BIGINT"},
    {"first", "BIGINT", kTime},
    {"last", "BIGINT", kTime},
    {"hist", "BIGINT[]"},
    {"sizes", "BIGINT[]"},
    {"positioned", "BIGINT"},
    {"consecutive", "BIGINT"},
    {"forward", "BIGINT"},
    {"strided", "BIGINT"},
    {"misaligned", "BIGINT"},
    {"extent", "BIGINT"},
    {"program", "VARCHAR", kPlain, 2},
    {"process", "BIGINT", kPlain, 2},
    {"peer", "VARCHAR", kPlain, 2},
};

constexpr ColumnSpec kTimeline[] = {
    {"host", "VARCHAR"}, {"ts", "BIGINT", kTime}, {"width", "BIGINT"}, {"layer", "VARCHAR"},
    {"busy", "BIGINT"},  {"calls", "BIGINT"},     {"bytes", "BIGINT"},
};

constexpr ColumnSpec kInodes[] = {
    {"path", "VARCHAR"},
    {"device", "BIGINT"},
    {"inode", "BIGINT"},
};

constexpr ColumnSpec kCoverage[] = {
    {"host", "VARCHAR"}, {"layer", "VARCHAR"},  {"ts", "BIGINT", kTime},
    {"dur", "BIGINT"},   {"covered", "BIGINT"},
};

constexpr ViewSpec kViews[] = {
    {"events", kEvents},     {"intervals", kIntervals}, {"counters", kCounters},
    {"samples", kSamples},   {"frames", kFrames},       {"processes", kProcesses},
    {"threads", kThreads},   {"summary", kSummary},     {"timeline", kTimeline},
    {"coverage", kCoverage}, {"inodes", kInodes},
};

constexpr auto kLayerNames = [] {
  std::array<std::string_view, std::size(trace::kLayers)> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = trace::kLayers[i].name;
  return names;
}();

std::string column_sql(const ColumnSpec& column, std::int64_t shift, int schema) {
  const std::string name = sql::quote_identifier(column.name);
  std::string value = name;
  if (column.role == kAbsent || column.since > schema) value = "NULL";
  if (column.role == kSelf) value = "coalesce(" + name + ", dur)";
  if (column.role == kTimed)
    value = "CASE WHEN dur > 0 OR list_sum(hist) > 0 THEN " + name + " END";
  if (column.role == kTime && shift != 0) value += " + " + std::to_string(shift);
  return "CAST(" + value + " AS " + std::string(column.type) + ") AS " + name;
}

}  // namespace

std::span<const ViewSpec> recorded_views() { return kViews; }
std::span<const std::string_view> layer_names() { return kLayerNames; }

std::string select_from(const ViewSpec& view, std::string_view from, std::int64_t shift,
                        int schema) {
  std::string text = "SELECT ";
  for (const ColumnSpec& column : view.columns) {
    if (&column != view.columns.data()) text += ", ";
    text += column_sql(column, shift, schema);
  }
  return text + " FROM " + std::string(from);
}

std::string select_nothing(const ViewSpec& view) {
  std::string text = "SELECT ";
  for (const ColumnSpec& column : view.columns) {
    if (&column != view.columns.data()) text += ", ";
    text +=
        "CAST(NULL AS " + std::string(column.type) + ") AS " + sql::quote_identifier(column.name);
  }
  return text + " WHERE false";
}

}  // namespace fathom::analysis
