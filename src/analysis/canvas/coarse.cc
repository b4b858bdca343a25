// SPDX-License-Identifier: MIT
// The table `timeline` has a row for each stretch of some milliseconds: quick to read, however many
// events there are.
#include "analysis/canvas/coarse.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/canvas/lane_book.h"
#include "base/cell.h"

namespace fathom::analysis {
namespace {

TrackKey host_key(const std::string& host) { return {.kind = TrackKind::kHost, .host = host}; }

// Another one than the index has for what belongs to no process.
TrackKey layer_key(const std::string& host, const std::string& layer) {
  return {.kind = TrackKind::kLayer, .host = host, .layer = layer, .name = "all"};
}

}  // namespace

Result<Tracks> coarse_tracks(Store& store) {
  FATHOM_ASSIGN(const Table rows,
                store.query("SELECT coalesce(host, '') AS host, layer, min(ts), max(ts + width), "
                            "CAST(sum(calls) AS BIGINT) FROM timeline GROUP BY ALL ORDER BY ALL"));
  Tracks out;
  for (const auto& row : rows.rows) {
    const std::string host = text_of(row[0]);
    const TrackId parent = track_id(host_key(host));
    if (out.tracks.empty() || out.tracks.back().host != host) {
      Track above;
      above.id = parent;
      above.kind = TrackKind::kHost;
      above.name = host.empty() ? "unknown host" : host;
      above.host = host;
      out.tracks.push_back(std::move(above));
    }
    Track track;
    track.layer = text_of(row[1]);
    track.id = track_id(layer_key(host, track.layer));
    track.parent = parent;
    track.kind = TrackKind::kLayer;
    track.name = track.layer;
    track.host = host;
    track.from = int_of(row[2]);
    track.to = int_of(row[3]);
    track.events = int_of(row[4]);
    track.depth = 1;
    out.tracks.push_back(std::move(track));
  }
  return out;
}

Result<Boxes> coarse_boxes(Store& store, const Window& window, std::int64_t width,
                           std::span<const TrackId> tracks) {
  const BinnedWindow bins = binned(window, width);
  const std::int64_t bin = std::int64_t{1} << bins.level;
  FATHOM_ASSIGN(const Table rows,
                store.query(fmt::format(
                    R"(SELECT coalesce(host, '') AS host, layer,
                    CASE WHEN width >= {bin} THEN ts ELSE (ts >> {level}) << {level} END AS start,
                    max(greatest(width, {bin})), CAST(sum(busy) AS BIGINT), CAST(sum(calls) AS BIGINT)
             FROM timeline WHERE calls > 0 AND ts < {to} AND ts + width > {from}
             GROUP BY ALL ORDER BY host, layer, start)",
                    fmt::arg("bin", bin), fmt::arg("level", bins.level),
                    fmt::arg("from", bins.window.from), fmt::arg("to", bins.window.to))));
  Boxes out{.window = bins.window, .names = {}, .tracks = {}};
  std::map<std::string, std::uint32_t> names;
  for (const auto& row : rows.rows) {
    const TrackId id = track_id(layer_key(text_of(row[0]), text_of(row[1])));
    if (std::ranges::find(tracks, id) == tracks.end()) continue;
    if (out.tracks.empty() || out.tracks.back().track != id)
      out.tracks.push_back({.track = id, .depth = {}, .boxes = {}});
    const auto [name, fresh] =
        names.try_emplace(text_of(row[1]), static_cast<std::uint32_t>(out.names.size()));
    if (fresh) out.names.push_back(name->first);
    TrackBoxes& track = out.tracks.back();
    Box box{.start = int_of(row[2]), .dur = int_of(row[3]), .busy = int_of(row[4])};
    // Stretches of two recordings may differ.
    if (!track.boxes.empty())
      box.start = std::max(box.start, track.boxes.back().start + track.boxes.back().dur);
    box.dur = std::max<std::int64_t>(int_of(row[2]) + int_of(row[3]) - box.start, 0);
    box.name = box.layer = name->second;
    box.count = int_of(row[5]);
    track.depth.push_back(0);
    track.boxes.push_back(box);
  }
  return out;
}

}  // namespace fathom::analysis
