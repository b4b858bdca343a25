// SPDX-License-Identifier: MIT
// Which lane an event is drawn in. A hostile recording may claim any number of threads, any depth
// and any time: each has its bound, and what lies beyond is counted.
//
// Depth says the lane of what nests in a thread. Where two events of one depth overlap all the same
// (clocks of an import, records of a lost end), the later one goes to a lane below that is free, so
// that nothing is drawn over anything.
#include "analysis/canvas/lane_book.h"

#include <algorithm>
#include <string_view>

namespace fathom::analysis {
namespace {

constexpr std::size_t kMostWaiting = std::size_t{4} << 20U;  // events in memory

void mix(std::uint64_t& hash, std::string_view text) {
  for (const char letter : text)
    hash = (hash ^ static_cast<unsigned char>(letter)) * UINT64_C(0x100000001b3);
  hash = (hash ^ 0xffU) * UINT64_C(0x100000001b3);
}

void mix(std::uint64_t& hash, const std::optional<std::int64_t>& number) {
  mix(hash, number ? std::to_string(*number) : "-");
}

}  // namespace

// FNV-1a, whose low bits are poor, then mixed. 48 bits: a number of JavaScript holds 53. Never 0,
// which means "no track".
TrackId track_id(const TrackKey& key) {
  std::uint64_t hash = UINT64_C(0xcbf29ce484222325) + static_cast<std::uint64_t>(key.kind);
  for (const std::string* text : {&key.host, &key.layer, &key.name}) mix(hash, *text);
  for (const auto* number : {&key.pid, &key.tid, &key.device, &key.stream}) mix(hash, *number);
  hash = (hash ^ hash >> 29U) * UINT64_C(0xbf58476d1ce4e5b9);
  return (hash >> 16U) | 1U;
}

TrackKey sums_key(std::string host, std::optional<std::int64_t> pid,
                  std::optional<std::int64_t> tid, std::string layer) {
  return {.kind = TrackKind::kLayer,
          .host = std::move(host),
          .pid = pid,
          .tid = tid,
          .layer = std::move(layer),
          .name = "sums"};
}

std::uint32_t LaneBook::add_track(TrackKey key) {
  if (tracks_.size() == kMostTracks) {
    ++tracks_left_out_;
    return kNoTrack;
  }
  tracks_.push_back({.key = std::move(key)});
  lanes_of_.emplace_back();
  return static_cast<std::uint32_t>(tracks_.size() - 1);
}

std::uint32_t LaneBook::new_lane() {
  if (lanes_.size() == kMostLanes) return kNoLane;
  lanes_.emplace_back();
  return static_cast<std::uint32_t>(lanes_.size() - 1);
}

std::uint32_t LaneBook::lane_at(TrackLanes& lanes, std::int64_t depth) {
  const auto at = static_cast<std::size_t>(depth);
  if (at >= lanes.by_depth.size()) lanes.by_depth.resize(at + 1, kNoLane);
  if (lanes.by_depth[at] == kNoLane) lanes.by_depth[at] = new_lane();
  return lanes.by_depth[at];
}

std::uint32_t LaneBook::free_lane(TrackLanes& lanes, std::int64_t ts) {
  for (const std::uint32_t lane : lanes.below) {
    if (lanes_[lane].end() <= ts) return lane;
  }
  if (static_cast<std::int64_t>(lanes.below.size()) >= kMostDepth) return kNoLane;
  const std::uint32_t lane = new_lane();
  if (lane != kNoLane) lanes.below.push_back(lane);
  return lane;
}

bool LaneBook::is_drawable(LaneEvent& event) const {
  event.dur = std::max<std::int64_t>(event.dur, 0);
  event.bytes = std::max<std::int64_t>(event.bytes, 0);
  return event.ts > -kFarthestTime && event.ts < kFarthestTime &&
         event.dur < kFarthestTime - event.ts;
}

void LaneBook::add(std::uint32_t track, std::int64_t depth, LaneEvent event) {
  if (track == kNoTrack || depth < 0 || depth >= kMostDepth || !is_drawable(event)) {
    ++events_left_out_;
    return;
  }
  TrackLanes& lanes = lanes_of_[track];
  std::uint32_t lane = lane_at(lanes, depth);
  if (lane != kNoLane && event.ts < lanes_[lane].end()) lane = free_lane(lanes, event.ts);
  put(track, lane, event);
}

void LaneBook::add(std::uint32_t track, LaneEvent event) {
  if (track == kNoTrack || !is_drawable(event)) {
    ++events_left_out_;
    return;
  }
  put(track, free_lane(lanes_of_[track], event.ts), event);
}

void LaneBook::put(std::uint32_t track, std::uint32_t lane, const LaneEvent& event) {
  if (lane == kNoLane) {
    ++events_left_out_;
    return;
  }
  std::int64_t& last_ts = lanes_of_[track].last_ts;
  if (event.ts < last_ts) ++out_of_order_;
  last_ts = std::max(last_ts, event.ts);
  LaneWriter& writer = lanes_[lane];
  waiting_ -= writer.waiting();
  writer.add(event, files_);
  waiting_ += writer.waiting();
  if (waiting_ > kMostWaiting) make_room();
  MadeTrack& made = tracks_[track];
  made.from = made.events == 0 ? event.ts : std::min(made.from, event.ts);
  made.to = made.events == 0 ? event.end() : std::max(made.to, event.end());
  made.events++;
}

// Lanes hold a few events back to make good leaves; all lanes together may hold too many.
void LaneBook::make_room() {
  for (LaneWriter& lane : lanes_) lane.flush(files_);
  waiting_ = 0;
}

std::vector<MadeLane> LaneBook::finish() {
  std::vector<MadeLane> made;
  for (std::uint32_t track = 0; track < tracks_.size(); ++track) {
    TrackLanes& lanes = lanes_of_[track];
    std::vector<std::uint32_t> all = lanes.by_depth;
    all.insert(all.end(), lanes.below.begin(), lanes.below.end());
    for (std::size_t depth = 0; depth < all.size(); ++depth) {
      if (all[depth] == kNoLane) continue;
      const LaneRoot root = lanes_[all[depth]].finish(files_);
      if (root.events > 0) made.push_back({track, static_cast<std::int32_t>(depth), root});
    }
  }
  lanes_of_ = {};
  lanes_ = {};
  return made;
}

}  // namespace fathom::analysis
