// SPDX-License-Identifier: MIT
// A lane is what is drawn in one line: events that follow each other and never overlap. Its tree
// answers for any window and any width of bins in a time that depends on the number of bins alone.
//
// A node stands for all events of the lane that begin in one stretch of 2^level ns, which starts at
// a multiple of that; it has two parts, each with at least one event, so that there is no node
// where nothing branches. Nodes of few events are leaves: their events lie behind each other, each
// as (gap since the last one's end, dur, kind, bytes if any), in numbers of 7 bits a byte. At least
// as long as the stretch can only be the last event of a node, since they do not overlap; it is
// kept by itself, so that it becomes a box of its own in narrow bins and part of one in wide bins.
// What all others have in sum is exact: how many, how long, and of which kind they have most time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/canvas/boxes.h"
#include "analysis/canvas/pile.h"
#include "base/result.h"

namespace fathom::analysis {

// Times that can be drawn: those of 73 years on either side.
inline constexpr std::int64_t kFarthestTime = std::int64_t{1} << 61U;

// What is drawn: a box from `ts` on. `kind` is a number of the canvas, which has name and layer
// behind it.
struct LaneEvent {
  std::int64_t ts = 0;
  std::int64_t dur = 0;
  std::uint32_t kind = 0;
  std::int64_t bytes = 0;  // that it moved
  [[nodiscard]] std::int64_t end() const { return ts + dur; }
};

// A node as it lies in the file of nodes, to be read where it lies. "Small" events are shorter than
// the node's stretch; one that is not, if there is one, comes last and is kept by itself.
struct LaneNode {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::int64_t begin = 0;       // of the first event
  std::int64_t small_end = 0;   // of the last that is shorter than the stretch
  std::int64_t busy = 0;        // of these
  std::int64_t large_ts = 0;    // the one that is not shorter
  std::int64_t large_dur = -1;  // -1: there is none
  std::uint64_t row = 0;        // of the first event, counted from the lane's first
  std::uint64_t block = 0;      // where a leaf's events are
  std::uint32_t small = 0;      // events that are shorter than the stretch
  std::uint32_t kind = 0;       // with most time among these
  std::uint32_t large_kind = 0;
  std::uint32_t left = kNone;  // of a leaf: kNone
  std::uint32_t right = kNone;
  std::uint32_t level = 0;

  [[nodiscard]] bool is_leaf() const { return left == kNone; }
  [[nodiscard]] bool has_large() const { return large_dur >= 0; }
  [[nodiscard]] std::uint64_t events() const { return small + (has_large() ? 1U : 0U); }
  [[nodiscard]] LaneEvent large() const { return {large_ts, large_dur, large_kind, 0}; }
};

// Where the trees of all lanes are.
struct LaneFiles {
  Pile nodes;
  Pile events;
  Status seal() {
    FATHOM_TRY(nodes.seal());
    return events.seal();
  }
  void rest() const {
    nodes.rest();
    events.rest();
  }
  [[nodiscard]] const LaneNode& node(std::uint32_t number) const {
    return *reinterpret_cast<const LaneNode*>(nodes.at(number * sizeof(LaneNode)));
  }
};

struct LaneRoot {
  std::uint32_t node = LaneNode::kNone;  // kNone: the lane is empty
  std::uint64_t events = 0;
};

// Makes one lane's tree while its events come, in the order of time. One thread at a time; many
// lanes may be open. Memory: what a leaf may hold, for a few of them.
class LaneWriter {
 public:
  // From the end of the last event on, and within kFarthestTime.
  void add(const LaneEvent& event, LaneFiles& files);
  [[nodiscard]] std::int64_t end() const { return end_; }
  [[nodiscard]] std::size_t waiting() const { return events_.size(); }
  // Writes what waits. Only so that it takes no memory: more nodes than needed come of it.
  void flush(LaneFiles& files);
  LaneRoot finish(LaneFiles& files);

 private:
  using KindTimes = std::vector<std::pair<std::uint32_t, std::int64_t>>;  // by kind
  // A stretch that is complete, or the last one: its events wait, or it is a node that is written.
  struct Part {
    unsigned split = 0;  // level of the stretch that it shares with the part before it
    unsigned level = 0;
    std::uint64_t row = 0;
    std::uint32_t waiting = 0;  // events at the end of events_; 0: it is a node
    std::uint32_t number = LaneNode::kNone;
    LaneNode node = {};
    KindTimes times = {};  // of the small events of `node`
  };

  void merge_last_two(LaneFiles& files);
  void write_leaf(Part& part, LaneFiles& files);
  static void put(Part& part, LaneFiles& files);
  void join(Part& left, Part& right, unsigned level, LaneFiles& files);

  std::vector<LaneEvent> events_;  // of parts that wait, the last part's last
  std::vector<Part> parts_;
  std::int64_t end_ = -kFarthestTime;
  std::int64_t last_ts_ = 0;
  std::uint64_t count_ = 0;
};

// Looks at a lane in sealed files. Any thread.
class LaneReader {
 public:
  LaneReader(const LaneFiles& files, const LaneRoot& root) : files_(&files), root_(root) {}

  struct Found {
    std::int64_t start = 0, dur = 0, busy = 0;
    std::uint32_t kind = 0;
    std::uint64_t count = 0;
    std::uint64_t row = 0;  // of the first
  };
  // In order of time; see boxes.h.
  void boxes(const BinnedWindow& window, std::vector<Found>& out) const;

  struct Placed {
    LaneEvent event;
    std::uint64_t row = 0;
  };
  // The last one that began before `ts`; false: there is none.
  bool before(std::int64_t ts, Placed& found) const;
  // `row` must be one of the lane's.
  [[nodiscard]] LaneEvent event(std::uint64_t row) const;

 private:
  class Bins;
  void visit(const LaneNode& node, Bins& bins) const;

  const LaneFiles* files_;
  LaneRoot root_;
};

// All events of a lane that end behind a time or begin there, in order. One thread at a time.
class LaneCursor {
 public:
  LaneCursor(const LaneFiles& files, const LaneRoot& root, std::int64_t from);
  [[nodiscard]] bool at_end() const { return at_ == leaf_.size(); }
  [[nodiscard]] const LaneEvent& event() const { return leaf_[at_]; }
  void next();

 private:
  void load_leaf();

  const LaneFiles* files_;
  std::vector<std::uint32_t> open_;  // nodes that come, the next one last
  std::vector<LaneEvent> leaf_;
  std::size_t at_ = 0;
};

}  // namespace fathom::analysis
