// SPDX-License-Identifier: MIT
// All lanes of a recording while they are made: which lane of a track an event goes to.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "analysis/canvas/lane_tree.h"
#include "analysis/canvas/track.h"

namespace fathom::analysis {

// What tells a track apart.
struct TrackKey {
  TrackKind kind = TrackKind::kThread;
  std::string host;
  std::optional<std::int64_t> pid = {}, tid = {};
  std::string layer = {};                                // kLayer, kCounter, kSamples
  std::string name = {};                                 // kCounter; "sums" of a kLayer
  std::optional<std::int64_t> device = {}, stream = {};  // kStream
};
[[nodiscard]] TrackId track_id(const TrackKey& key);
// Of calls of a layer that were added up: another one than that of its events.
[[nodiscard]] TrackKey sums_key(std::string host, std::optional<std::int64_t> pid,
                                std::optional<std::int64_t> tid, std::string layer);

// A lane that is complete: whose it is, and where its tree begins.
struct MadeLane {
  std::uint32_t track = 0;
  std::int32_t depth = 0;
  LaneRoot root;
};

struct MadeTrack {
  TrackKey key;
  std::int64_t from = 0, to = 0, events = 0;
};

// One thread at a time.
class LaneBook {
 public:
  static constexpr std::size_t kMostTracks = 50'000;
  static constexpr std::size_t kMostLanes = 250'000;
  static constexpr std::int64_t kMostDepth = 1000;

  // kNoTrack beyond kMostTracks.
  static constexpr std::uint32_t kNoTrack = UINT32_MAX;
  std::uint32_t add_track(TrackKey key);

  // On the lane of its depth. Where that is taken, because the recording says what cannot be, or
  // brings events out of order: on a lane below all depths.
  void add(std::uint32_t track, std::int64_t depth, LaneEvent event);
  // On the first lane that is free.
  void add(std::uint32_t track, LaneEvent event);

  [[nodiscard]] std::int64_t tracks_left_out() const { return tracks_left_out_; }
  [[nodiscard]] std::int64_t events_left_out() const { return events_left_out_; }
  // Events that came behind one of their track that began later.
  [[nodiscard]] std::int64_t out_of_order() const { return out_of_order_; }

  // Lanes of a track stand behind each other, by depth. Nothing may be added afterwards.
  std::vector<MadeLane> finish();
  [[nodiscard]] const std::vector<MadeTrack>& tracks() const { return tracks_; }
  [[nodiscard]] LaneFiles& files() { return files_; }
  [[nodiscard]] const LaneFiles& files() const { return files_; }

 private:
  struct TrackLanes {
    std::vector<std::uint32_t> by_depth;  // kNoLane: none yet
    std::vector<std::uint32_t> below;
    std::int64_t last_ts = -kFarthestTime;
  };
  static constexpr std::uint32_t kNoLane = UINT32_MAX;

  std::uint32_t lane_at(TrackLanes& lanes, std::int64_t depth);
  std::uint32_t free_lane(TrackLanes& lanes, std::int64_t ts);
  std::uint32_t new_lane();
  bool is_drawable(LaneEvent& event) const;
  void put(std::uint32_t track, std::uint32_t lane, const LaneEvent& event);
  void make_room();

  LaneFiles files_;
  std::vector<MadeTrack> tracks_;
  std::vector<TrackLanes> lanes_of_;
  std::deque<LaneWriter> lanes_;
  std::size_t waiting_ = 0;  // events in memory, about
  std::int64_t tracks_left_out_ = 0;
  std::int64_t events_left_out_ = 0;
  std::int64_t out_of_order_ = 0;
};

}  // namespace fathom::analysis
