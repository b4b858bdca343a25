// SPDX-License-Identifier: MIT
// The index knows where a box is; the recording's own rows know the rest. They are found by their
// time, of which the files know where it is.
#include "analysis/canvas/event.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/canvas/lane_book.h"
#include "base/cell.h"
#include "sql/quote.h"

namespace fathom::analysis {
namespace {

constexpr std::int64_t kMostFlows = 20'000;

std::string is_number(const char* column, const std::optional<std::int64_t>& number) {
  return number ? fmt::format("{} = {}", column, *number) : fmt::format("{} IS NULL", column);
}

std::string where_of(const PlacedEvent& event) {
  const Track& track = *event.track;
  return fmt::format(
      "ts = {} AND dur = {} AND coalesce(host, '') = {} AND {} AND {} AND layer = {} AND "
      "starts_with(name, {})",
      event.ts, event.dur, sql::quote_literal(track.host), is_number("pid", track.pid),
      is_number("tid", track.tid), sql::quote_literal(event.layer), sql::quote_literal(event.name));
}

Object fields_of(const Table& rows) {
  Object fields;
  if (rows.rows.empty()) return fields;
  for (std::size_t i = 0; i < rows.columns.size(); ++i) {
    if (!rows.rows[0][i].is_null()) fields.emplace_back(rows.columns[i].name, rows.rows[0][i]);
  }
  return fields;
}

// As the pass over all events chooses (event_pass.cc).
TrackKey key_of(const std::vector<Value>& row) {
  const auto number = [](const Value& cell) {
    return cell.is_null() ? std::optional<std::int64_t>() : int_of(cell);
  };
  TrackKey key{.host = text_of(row[0]), .pid = number(row[1]), .tid = number(row[2])};
  const bool nests = !row[3].is_null() && key.tid;
  if (nests) return key;
  if (!key.tid && !row[5].is_null()) {
    key.kind = TrackKind::kStream;
    key.device = number(row[5]);
    key.stream = number(row[6]);
  } else {
    key.kind = TrackKind::kLayer;
    key.layer = text_of(row[4]);
  }
  return key;
}

constexpr char kConnected[] = R"(
  SELECT coalesce(host, ''), pid, tid, depth, layer, device, stream, ts, dur, name, correlation FROM events
  WHERE correlation IS NOT NULL AND {} ORDER BY ts LIMIT {})";

const Value* find_field(const Object& fields, std::string_view name) {
  const auto found = std::ranges::find(fields, name, [](const auto& one) { return one.first; });
  return found == fields.end() ? nullptr : &found->second;
}

// Within what a device may lag behind.
constexpr std::int64_t kFarthestPartner = 10'000'000'000;

Result<std::vector<PlacedEvent>> partners_of(Store& store, const Canvas& canvas,
                                             const PlacedEvent& event, const Object& fields) {
  std::vector<PlacedEvent> partners;
  const Value* correlation = find_field(fields, "correlation");
  if (correlation == nullptr) return partners;
  const std::string where = fmt::format(
      "correlation = {} AND coalesce(host, '') = {} AND {} AND ts BETWEEN {} AND {}",
      int_of(*correlation), sql::quote_literal(event.track->host),
      is_number("pid", event.track->pid), event.ts - kFarthestPartner, event.ts + kFarthestPartner);
  FATHOM_ASSIGN(const Table rows, store.query(fmt::format(kConnected, where, 100)));
  for (const auto& row : rows.rows) {
    const Track* track = canvas.find(track_id(key_of(row)));
    if (track == nullptr || (track == event.track && int_of(row[7]) == event.ts)) continue;
    partners.push_back({.row = -1,
                        .track = track,
                        .ts = int_of(row[7]),
                        .dur = int_of(row[8]),
                        .layer = text_of(row[4]),
                        .name = text_of(row[9])});
  }
  return partners;
}

}  // namespace

Result<EventDetails> event_details(Store& store, const Canvas& canvas, std::int64_t row) {
  FATHOM_ASSIGN(PlacedEvent event, canvas.event(row));
  EventDetails details{
      .event = event, .fields = {}, .parents = canvas.around(event), .partners = {}};
  if (event.track->kind == TrackKind::kSamples) return details;
  FATHOM_ASSIGN(const Table rows,
                store.query("SELECT * FROM events WHERE " + where_of(event) + " LIMIT 1"));
  details.fields = fields_of(rows);
  FATHOM_ASSIGN(details.partners, partners_of(store, canvas, event, details.fields));
  return details;
}

namespace {

// Ends in the window, and those outside of it that belong to one of them.
std::string flows_sql(const Window& window, const std::string& where) {
  const std::string columns =
      "coalesce(host, '') AS host, pid, tid, depth, layer, device, stream, ts, dur, name, "
      "correlation";
  return fmt::format(
      R"(WITH inside AS (
           SELECT {columns}, count(*) OVER () AS ends FROM events {where} AND correlation IS NOT NULL
           AND ts >= {from} AND ts < {to} ORDER BY ts LIMIT {most}),
         seen AS (SELECT coalesce(max(ts), 0) AS last, coalesce(any_value(ends), 0) > {most} AS cut FROM inside)
         SELECT * FROM inside
         UNION ALL
         SELECT {columns}, 0 FROM events {where} AND correlation IS NOT NULL
         AND ts >= {from} - {far} AND ts < {to} + {far}
         AND (ts < {from} OR ts >= {to} OR (SELECT cut AND ts > last FROM seen))
         AND (coalesce(host, ''), pid, correlation) IN (SELECT (host, pid, correlation) FROM inside)
         ORDER BY ts)",
      fmt::arg("columns", columns), fmt::arg("where", where), fmt::arg("from", window.from),
      fmt::arg("to", window.to), fmt::arg("most", 2 * kMostFlows),
      fmt::arg("far", kFarthestPartner));
}

using FlowEnd = std::pair<TrackId, std::int64_t>;

}  // namespace

Result<Flows> flows_in(Store& store, const Window& window, const RowFilter& filter) {
  FATHOM_ASSIGN(const FilteredView view, find_filtered_view("events"));
  RowFilter rows_of = filter;  // the window is the time
  rows_of.from_ns.reset();
  rows_of.to_ns.reset();
  FATHOM_ASSIGN(const Table rows, store.query(flows_sql(window, where_sql(view, rows_of))));
  // Who asked is a thread; what was asked for belongs to none.
  using Key = std::tuple<std::string, std::int64_t, std::int64_t>;
  const auto key_in = [](const std::vector<Value>& row) {
    return Key{text_of(row[0]), int_of(row[1]), int_of(row[10])};
  };
  std::map<Key, FlowEnd> asked;
  std::int64_t ends = 0;
  for (const auto& row : rows.rows) {
    ends = std::max(ends, int_of(row[11]));
    if (!row[2].is_null()) asked.try_emplace(key_in(row), track_id(key_of(row)), int_of(row[7]));
  }
  Flows flows;
  flows.left_out = std::max<std::int64_t>(ends - 2 * kMostFlows, 0);
  for (const auto& row : rows.rows) {
    if (!row[2].is_null()) continue;
    const auto from = asked.find(key_in(row));
    if (from == asked.end()) continue;
    if (static_cast<std::int64_t>(flows.flows.size()) >= kMostFlows) {
      ++flows.left_out;
      continue;
    }
    flows.flows.push_back(
        {from->second.first, from->second.second, track_id(key_of(row)), int_of(row[7])});
  }
  return flows;
}

}  // namespace fathom::analysis
