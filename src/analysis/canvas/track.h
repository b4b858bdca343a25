// SPDX-License-Identifier: MIT
// The lines of a picture over time: hosts, their processes, threads, what belongs to these.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::analysis {

enum class TrackKind : std::uint8_t {
  kHost,
  kProcess,
  kThread,   // calls and regions that nest in a thread
  kStream,   // of a device
  kCounter,  // a line of values
  kLayer,    // of a process, thread or host: what does not nest in a thread's calls
  kSamples,  // sampled functions of a thread, and what it waited in
};
[[nodiscard]] std::string_view track_kind_name(TrackKind kind);

// Made of what tells the track apart: the same in every answer, also when a recording has grown.
// JavaScript's numbers hold it.
using TrackId = std::uint64_t;

// A line with a name, and all that says where it belongs.
struct Track {
  TrackId id = 0;
  TrackId parent = 0;  // 0: none
  TrackKind kind = TrackKind::kThread;
  std::string name;  // for people
  std::string host;  // "": unknown
  std::optional<std::int64_t> pid = {}, tid = {}, rank = {};
  std::string layer = {};  // of a kLayer or kCounter
  std::string unit = {};   // of a kCounter
  std::int64_t from = 0;   // of what is on it, and on those below it
  std::int64_t to = 0;
  std::int64_t events = 0;  // on it alone: boxes, or values of a counter
  std::int64_t depth = 0;   // levels that boxes are on
  // Of a kLayer whose calls were added up (sum_boxes.h): the names of its levels. Its events are
  // calls.
  std::vector<std::string> lanes = {};
  [[nodiscard]] bool is_of_sums() const { return !lanes.empty(); }
};

// In the order of drawing, parents before their children: ranks, then processes by their start.
struct Tracks {
  std::vector<Track> tracks;
  std::int64_t left_out = 0;  // tracks beyond what one picture can have
};

}  // namespace fathom::analysis
