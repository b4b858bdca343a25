// SPDX-License-Identifier: MIT
// Cells are added up by SQL over the events that the store shows. Bytes and calls count where a
// call began; time is spread over the bins that the call was in.
#include "analysis/canvas/maps.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/layer_sql.h"
#include "analysis/view_tools.h"
#include "base/cell.h"
#include "sql/quote.h"

namespace fathom::analysis {
namespace {

constexpr std::int64_t kMostBins = 4000;
constexpr std::int64_t kMostRows = 2000;
constexpr std::int64_t kMostCells = 2'000'000;  // of one answer

struct Word {
  std::string_view word;
  const char* sql;
};

constexpr Word kRows[] = {
    {"thread", "concat_ws('/', coalesce(host, ''), pid, tid)"},
    {"process", "concat_ws('/', coalesce(host, ''), pid)"},
    {"rank", "CAST(\"rank\" AS VARCHAR)"},
    {"file", "file"},
};
constexpr Word kNames[] = {
    {"thread",
     "concat(coalesce(any_value(program), 'pid ' || any_value(pid)), ' (', any_value(pid), "
     "'), thread ', any_value(tid))"},
    {"process", "concat(coalesce(any_value(program), 'pid'), ' (', any_value(pid), ')')"},
    {"rank", "concat('rank ', any_value(\"rank\"))"},
    {"file", "any_value(file)"},
};
constexpr Word kWhat[] = {{"bytes", "coalesce(bytes, 0)"}, {"calls", "1"}, {"time", "dur"}};
// Layers of I/O have calls that make processes and wait for them, which are none; waits for
// asynchronous I/O are.
constexpr Word kCategories[] = {
    {"read", "category = 'read'"},
    {"write", "category = 'write'"},
    {"all",
     "coalesce(category <> 'process' AND NOT (category = 'wait' AND starts_with(name, 'wait')), "
     "true)"}};

template <std::size_t count>
Result<std::string> sql_of(const Word (&words)[count], std::string_view what,
                           const std::string& word) {
  std::string known;
  for (const Word& one : words) {
    if (one.word == word) return std::string(one.sql);
    known += (known.empty() ? "" : ", ") + std::string(one.word);
  }
  return usage_error(fmt::format("there is no {} '{}'", what, word.substr(0, 100)),
                     "one of " + known);
}

// A page asks for dozens of maps. To open and join the files behind `events` costs far more than to
// add up what a usual recording has, so the calls of maps are taken out once; many stay there.
constexpr std::int64_t kMostHeld = 200'000;
constexpr char kCalls[] = R"(
  CREATE TEMP {kind} map_calls AS
  SELECT ts, dur, bytes, "offset", category, name, host, pid, tid, "rank", file, program
  FROM events WHERE layer IN @io)";

Status make_map_calls(Store& store) {
  FATHOM_ASSIGN(
      const Table calls,
      store.query(layer_sql(
          "SELECT coalesce(CAST(sum(calls) AS BIGINT), 0) FROM summary WHERE layer IN @io")));
  const bool few = int_of(calls.rows.at(0).at(0)) <= kMostHeld;
  FATHOM_TRY(store.query(layer_sql(fmt::format(kCalls, fmt::arg("kind", few ? "TABLE" : "VIEW")))));
  return {};
}

struct Span {
  std::int64_t from = 0;
  std::int64_t bin = 1;
  std::int64_t bins = 1;
};

// The time of what is looked at, in bins of whole ns.
Result<Span> span_of(Store& store, std::int64_t bins) {
  FATHOM_TRY(store.ensure(make_map_calls));
  FATHOM_ASSIGN(const TimeBase base, time_base(store));
  bins = std::clamp<std::int64_t>(bins, 1, kMostBins);
  const std::int64_t wall = std::max<std::int64_t>(base.wall, 1);
  return Span{base.begin, (wall + bins - 1) / bins, bins};
}

// A call that an inner one of another layer tells of again counts once: only the layers through
// which the program itself asks.
constexpr char kHeat[] = R"(
  WITH wanted AS (
    SELECT {row} AS id, greatest(least((ts - {from}) // {bin}, {bins} - 1), 0) AS first,
           greatest(least((ts + greatest(dur, 1) - 1 - {from}) // {bin}, {bins} - 1), first) AS last,
           ts, dur, {what} AS amount, host, pid, tid, "rank", file, program
    FROM map_calls WHERE {category} AND {row} IS NOT NULL),
  best AS (
    SELECT id, {name} AS name, sum(amount) AS all_of, count(*) OVER () AS all_rows
    FROM wanted GROUP BY id ORDER BY all_of DESC, id LIMIT {top}),
  spread AS ({spread})
  SELECT best.id, best.name, best.all_rows, s.b, CAST(round(sum(s.amount)) AS BIGINT)
  FROM best LEFT JOIN spread s ON s.id = best.id
  GROUP BY best.id, best.name, best.all_rows, best.all_of, s.b
  ORDER BY best.all_of DESC, best.id, s.b)";
constexpr char kAtBegin[] = "SELECT id, first AS b, amount FROM wanted";
constexpr char kOverTime[] = R"(
  SELECT id, b, CASE WHEN first = last THEN dur ELSE
           greatest(least(ts + dur, {from} + (b + 1) * {bin}) - greatest(ts, {from} + b * {bin}), 0) END AS amount
  FROM (SELECT *, unnest(range(first, last + 1)) AS b FROM wanted))";

std::string heat_sql(const Span& span, const HeatOptions& options, const std::string& row,
                     const std::string& name, const std::string& what,
                     const std::string& category) {
  const std::string spread =
      options.what == "time"
          ? fmt::format(kOverTime, fmt::arg("from", span.from), fmt::arg("bin", span.bin))
          : std::string(kAtBegin);
  return fmt::format(
      kHeat, fmt::arg("row", row), fmt::arg("from", span.from), fmt::arg("bin", span.bin),
      fmt::arg("bins", span.bins), fmt::arg("what", what), fmt::arg("category", category),
      fmt::arg("name", name), fmt::arg("spread", spread),
      fmt::arg("top", std::clamp<std::int64_t>(options.top, 1,
                                               std::min(kMostRows, kMostCells / span.bins))));
}

}  // namespace

Result<HeatMap> heat_map(Store& store, const HeatOptions& options) {
  FATHOM_ASSIGN(const std::string row, sql_of(kRows, "kind of rows", options.rows));
  FATHOM_ASSIGN(const std::string name, sql_of(kNames, "kind of rows", options.rows));
  FATHOM_ASSIGN(const std::string what, sql_of(kWhat, "amount", options.what));
  FATHOM_ASSIGN(const std::string category, sql_of(kCategories, "category", options.category));
  FATHOM_ASSIGN(const Span span, span_of(store, options.bins));
  FATHOM_ASSIGN(const Table found, store.query(heat_sql(span, options, row, name, what, category)));
  HeatMap map;
  map.from = span.from;
  map.bin_ns = span.bin;
  map.unit = options.what == "bytes" ? "bytes" : options.what == "time" ? "ns" : "calls";
  for (const auto& cells : found.rows) {
    if (map.rows.empty() || map.rows.back().id != text_of(cells[0]))
      map.rows.push_back({text_of(cells[0]), text_of(cells[1]),
                          std::vector<std::int64_t>(static_cast<std::size_t>(span.bins))});
    map.left_out = int_of(cells[2]);
    if (!cells[3].is_null())
      map.rows.back().cells[static_cast<std::size_t>(int_of(cells[3]))] = int_of(cells[4]);
  }
  map.left_out -= static_cast<std::int64_t>(map.rows.size());
  return map;
}

Result<OffsetMap> offset_map(Store& store, const OffsetOptions& options) {
  FATHOM_ASSIGN(const Span span, span_of(store, options.bins));
  const std::int64_t places =
      std::clamp<std::int64_t>(options.offset_bins, 1, std::min(kMostBins, kMostCells / span.bins));
  const std::string of_file =
      "FROM map_calls WHERE bytes > 0 AND category IN ('read', 'write') AND file = " +
      sql::quote_literal(options.file);
  FATHOM_ASSIGN(const Table size,
                store.query("SELECT max(\"offset\" + bytes), count(*) FILTER (\"offset\" IS NULL), "
                            "count(*) " +
                            of_file));
  const std::vector<Value>& sizes = size.rows.at(0);
  if (int_of(sizes[2]) == 0)
    return Error{Code::kNotFound, "no call moved bytes of this file here",
                 "choose another file or time"};
  OffsetMap map{.from = span.from, .time_bin_ns = span.bin, .read = {}, .write = {}};
  map.without_place = int_of(sizes[1]);
  map.offset_bin = std::max<std::int64_t>((int_of(sizes[0]) + places - 1) / places, 1);
  const std::vector<std::int64_t> none(static_cast<std::size_t>(span.bins));
  map.read.assign(static_cast<std::size_t>(places), none);
  map.write = map.read;
  // A call that reaches over several places counts in the one where it begins.
  FATHOM_ASSIGN(
      const Table cells,
      store.query(fmt::format(
          R"(SELECT category, greatest(least("offset" // {place}, {places} - 1), 0) AS place,
                    greatest(least((ts - {from}) // {bin}, {bins} - 1), 0) AS b, CAST(sum(bytes) AS BIGINT)
             {file} AND "offset" IS NOT NULL GROUP BY ALL)",
          fmt::arg("place", map.offset_bin), fmt::arg("places", places),
          fmt::arg("from", span.from), fmt::arg("bin", span.bin), fmt::arg("bins", span.bins),
          fmt::arg("file", of_file))));
  for (const auto& row : cells.rows) {
    auto& side = text_of(row[0]) == "read" ? map.read : map.write;
    side[static_cast<std::size_t>(int_of(row[1]))][static_cast<std::size_t>(int_of(row[2]))] =
        int_of(row[3]);
  }
  return map;
}

}  // namespace fathom::analysis
