// SPDX-License-Identifier: MIT
// What a picture over time shows of a window: boxes, each an event or several that are too narrow
// to tell apart.
//
// Time is cut into bins of 2^k ns, the narrowest that are no narrower than a pixel. The window is
// widened to whole bins, so that the same bins are drawn wherever the window stands. An event that
// is as long as a bin is a box of its own, at its own times; shorter ones that begin in the same
// bin are one box, as wide as the bin where its neighbours leave room. An event that began before
// the window and reaches into it is a box of its own too. So each event that touches the window is
// in one box, and boxes of a track and depth never overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/canvas/track.h"

namespace fathom::analysis {

// Half open, in ns of the recording.
struct Window {
  std::int64_t from = 0;
  std::int64_t to = 0;  // behind the last ns
};

// The window that is drawn where this one was asked for, and its bins.
struct BinnedWindow {
  Window window;
  unsigned level = 0;  // bins of 2^level ns
};
// `width` in pixels, at least 1.
[[nodiscard]] BinnedWindow binned(const Window& window, std::int64_t width);

// "touches": begins in the window, or began before and ends in it or later.
struct Box {
  std::int64_t start = 0;  // ns of the recording
  std::int64_t dur = 0;
  std::int64_t busy = 0;   // time of its events: dur of a single one
  std::uint32_t name = 0;  // numbers of Boxes::names; of several, the one with most time
  std::uint32_t layer = 0;
  std::int64_t count = 0;  // of events
  std::int64_t row = -1;   // of a single event; see event.h
};

struct TrackBoxes {
  TrackId track = 0;
  std::vector<std::int32_t> depth;  // of each box, in order; times grow within a depth
  std::vector<Box> boxes;
};

// The answer to one look: names are numbers of `names`, which holds those of this answer alone.
struct Boxes {
  Window window;  // what is drawn
  std::vector<std::string> names;
  std::vector<TrackBoxes> tracks;
};

// A counter's values in bins that have any.
struct CounterLine {
  TrackId track = 0;
  std::vector<std::int64_t> t;  // begin of the bin
  std::vector<double> min, max, avg;
};

}  // namespace fathom::analysis
