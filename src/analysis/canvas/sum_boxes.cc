// SPDX-License-Identifier: MIT
// Asks the view `intervals` for the sums of a window and places them on lanes. Intervals narrower
// than a bin are added up in SQL, so the rows depend on the width of the picture.
#include "analysis/canvas/sum_boxes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/canvas/lane_book.h"
#include "base/cell.h"
#include "base/sum.h"

namespace fathom::analysis {
namespace {

constexpr std::int64_t kMostBoxes = 200'000;

// Intervals that are narrower than a bin are added up.
std::string boxes_sql(const BinnedWindow& bins) {
  return fmt::format(
      R"(SELECT coalesce(host, '') AS host, pid, tid, layer, name,
                CASE WHEN width >= {bin} THEN ts ELSE (ts >> {level}) << {level} END AS start,
                max(greatest(width, {bin})), CAST(sum(dur) AS BIGINT), CAST(sum(calls) AS BIGINT)
         FROM intervals WHERE calls > 0 AND ts < {to} AND ts + width > {from}
         GROUP BY ALL ORDER BY start)",
      fmt::arg("bin", std::int64_t{1} << bins.level), fmt::arg("level", bins.level),
      fmt::arg("from", bins.window.from), fmt::arg("to", bins.window.to));
}

TrackKey key_of(const std::vector<Value>& row) {
  const auto number = [](const Value& cell) {
    return cell.is_null() ? std::optional<std::int64_t>() : int_of(cell);
  };
  return sums_key(text_of(row[0]), number(row[1]), number(row[2]), text_of(row[3]));
}

// Boxes of one lane, in the order of their start.
struct Lane {
  std::vector<Box> boxes;
  std::int64_t most = 0;  // time of the name that the last box has

  void add(std::int64_t start, std::int64_t dur, std::int64_t busy, std::int64_t calls,
           std::uint32_t name, std::uint32_t layer) {
    if (!boxes.empty() && (boxes.back().start == start || start + dur <= end())) {
      Box& last = boxes.back();
      add_to(last.busy, busy);
      add_to(last.count, calls);
      if (busy > most) last.name = name;
      most = std::max(most, busy);
      return;
    }
    // Intervals of two recordings may overlap.
    const std::int64_t free = boxes.empty() ? start : std::max(start, end());
    boxes.push_back({.start = free,
                     .dur = start + dur - free,
                     .busy = busy,
                     .name = name,
                     .layer = layer,
                     .count = calls});
    most = busy;
  }
  [[nodiscard]] std::int64_t end() const { return boxes.back().start + boxes.back().dur; }
};

std::size_t lane_of(const Track& track, const std::string& name) {
  const auto found = std::ranges::find(track.lanes, name);
  return std::min(static_cast<std::size_t>(found - track.lanes.begin()), kMostSumLanes - 1);
}

class Names {
 public:
  explicit Names(std::vector<std::string>& out) : out_(out) {
    for (std::uint32_t i = 0; i < out.size(); ++i) numbers_.emplace(out[i], i);
  }
  std::uint32_t number(const std::string& text) {
    const auto [found, fresh] = numbers_.try_emplace(text, static_cast<std::uint32_t>(out_.size()));
    if (fresh) out_.push_back(text);
    return found->second;
  }

 private:
  std::vector<std::string>& out_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace

Status add_sum_boxes(Store& store, std::span<const Track* const> tracks, const Window& window,
                     std::int64_t width, Boxes& out) {
  if (tracks.empty()) return {};
  const auto lanes = static_cast<std::int64_t>(tracks.size() * kMostSumLanes);
  const BinnedWindow bins =
      binned(window, std::min(width, std::max<std::int64_t>(kMostBoxes / lanes, 1)));
  FATHOM_ASSIGN(const Table rows, store.query(boxes_sql(bins)));
  std::unordered_map<TrackId, const Track*> wanted;
  for (const Track* track : tracks) wanted.emplace(track->id, track);
  std::map<TrackId, std::vector<Lane>> made;
  Names names(out.names);
  for (const auto& row : rows.rows) {
    const auto track = wanted.find(track_id(key_of(row)));
    if (track == wanted.end()) continue;
    std::vector<Lane>& all = made[track->first];
    all.resize(kMostSumLanes);
    const std::string name = text_of(row[4]);
    all[lane_of(*track->second, name)].add(int_of(row[5]), int_of(row[6]), int_of(row[7]),
                                           int_of(row[8]), names.number(name),
                                           names.number(text_of(row[3])));
  }
  for (auto& [id, all] : made) {
    TrackBoxes boxes{.track = id, .depth = {}, .boxes = {}};
    for (std::size_t depth = 0; depth < all.size(); ++depth) {
      boxes.depth.insert(boxes.depth.end(), all[depth].boxes.size(),
                         static_cast<std::int32_t>(depth));
      boxes.boxes.insert(boxes.boxes.end(), all[depth].boxes.begin(), all[depth].boxes.end());
    }
    out.tracks.push_back(std::move(boxes));
  }
  return {};
}

}  // namespace fathom::analysis
