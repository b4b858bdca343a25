// SPDX-License-Identifier: MIT
// Lines of counters as they are drawn: least, most and mean of each bin. Counters are sampled some
// times a second, so there is no index of them: a question each time is quick enough.
#include <fmt/format.h>

#include <unordered_map>

#include "analysis/canvas/canvas.h"
#include "base/cell.h"
#include "sql/quote.h"

namespace fathom::analysis {
namespace {

std::string is_number(const char* column, const std::optional<std::int64_t>& number) {
  return number ? fmt::format("{} = {}", column, *number) : fmt::format("{} IS NULL", column);
}

std::string condition_of(const Track& track) {
  return fmt::format("(coalesce(host, '') = {} AND {} AND {} AND layer = {} AND name = {})",
                     sql::quote_literal(track.host), is_number("pid", track.pid),
                     is_number("tid", track.tid), sql::quote_literal(track.layer),
                     sql::quote_literal(track.name));
}

// All tracks of an answer by one scan. Bins are powers of two wide, hence shifts.
std::string lines_sql(std::span<const Track* const> tracks, const BinnedWindow& bins) {
  std::string which;
  for (std::size_t i = 0; i < tracks.size(); ++i)
    which += fmt::format(" WHEN {} THEN {}", condition_of(*tracks[i]), i);
  return fmt::format(
      R"(SELECT line, (ts >> {level}) << {level} AS bin, min(value), max(value), avg(value)
         FROM (SELECT ts, value, CASE{which} END AS line FROM counters
               WHERE ts >= {from} AND ts < {to})
         WHERE line IS NOT NULL GROUP BY ALL ORDER BY ALL)",
      fmt::arg("level", bins.level), fmt::arg("which", which), fmt::arg("from", bins.window.from),
      fmt::arg("to", bins.window.to));
}

}  // namespace

Result<std::vector<CounterLine>> counter_lines(Store& store, std::span<const Track* const> tracks,
                                               const Window& window, std::int64_t width) {
  std::vector<CounterLine> lines(tracks.size());
  for (std::size_t i = 0; i < tracks.size(); ++i) lines[i].track = tracks[i]->id;
  if (tracks.empty()) return lines;
  FATHOM_ASSIGN(const Table rows, store.query(lines_sql(tracks, binned(window, width))));
  for (const auto& row : rows.rows) {
    CounterLine& line = lines[static_cast<std::size_t>(int_of(row[0]))];
    line.t.push_back(int_of(row[1]));
    line.min.push_back(number_in(row[2]).value_or(0));
    line.max.push_back(number_in(row[3]).value_or(0));
    line.avg.push_back(number_in(row[4]).value_or(0));
  }
  return lines;
}

}  // namespace fathom::analysis
