// SPDX-License-Identifier: MIT
// How long, and when, events ran inside the ones that are still open in a thread: what is left is
// an event's own time. Records come when events end, so what is inside comes before what is around
// it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace fathom::trace {

// Time within one bucket of a timeline.
struct Place {
  std::int64_t ts;
  std::int64_t time;
  bool operator==(const Place&) const = default;
};

// One thread's, on one of its cursors. Its memory is as deep as the deepest event that was met.
class Inside {
 public:
  // What events of one depth have taken since the event around them began.
  struct Level {
    std::int64_t time = 0;
    std::vector<Place> places;  // of `time`, or as much of it as is known; in order

    // Its memory stays: there is a level in use for every other event.
    void clear() {
      time = 0;
      places.clear();
    }
  };
  // What ran inside an event that ends now. Valid until the next one ends.
  struct Inner {
    std::int64_t time = 0;
    std::span<const Place> places = {};
  };

  // `shift`: a bucket is 2^shift ns wide, and wide enough for all time so far to have a few
  // thousand of them.
  Inner end(unsigned depth, std::int64_t ts, std::int64_t dur, int shift) {
    if (levels_.size() < depth + 1) levels_.resize(depth + 1);
    Inner inner;
    if (used_ > depth + 1) inner = {levels_[depth + 1].time, levels_[depth + 1].places};
    for (; used_ <= depth; used_++) levels_[used_].clear();
    used_ = depth + 1;
    // Bounded, since the parent's record may be lost and never take it away.
    levels_[depth].time = std::min(levels_[depth].time + dur, std::int64_t{1} << 60);
    if (depth > 0) put(levels_[depth].places, ts, dur, shift);
    return inner;
  }

  // The time at depth 0 has no event around it that could want to know it.
  [[nodiscard]] bool carries() const { return used_ > 1; }
  [[nodiscard]] std::span<const Level> levels() const { return {levels_.data(), used_}; }
  void restore(Level level) {
    levels_.resize(used_);
    levels_.push_back(std::move(level));
    used_++;
  }

 private:
  static void put(std::vector<Place>& places, std::int64_t ts, std::int64_t dur, int shift) {
    for (const std::int64_t end = ts + dur; ts < end;) {
      // What was before the run is in its first bucket.
      const std::int64_t stop =
          std::min(end, (std::max<std::int64_t>(ts >> shift, 0) + 1) << shift);
      if (!places.empty() && places.back().ts >> shift == ts >> shift) {
        places.back().time += stop - ts;
      } else {
        places.push_back({ts, stop - ts});
      }
      ts = stop;
    }
  }

  // A vector, since there may be very many threads and hardly any is deep.
  std::vector<Level> levels_;
  unsigned used_ = 0;
};

}  // namespace fathom::trace
