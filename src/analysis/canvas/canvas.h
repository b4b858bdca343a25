// SPDX-License-Identifier: MIT
// An index of a recording for pictures over time: any window, at any width, of any tracks, in a
// time that depends on the width and not on the number of events.
//
// One pass makes it. It lies in two files without a name, mapped: memory is the kernel's to take
// back. See lane_tree.h for what is in them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/canvas/boxes.h"
#include "analysis/canvas/track.h"
#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

// Told now and then how much is done, 0 to 1; false ends the pass.
using CanvasProgress = std::function<bool(double done)>;

// A single box, as the index knows it. What else is known of the event: event.h.
struct PlacedEvent {
  std::int64_t row = 0;
  const Track* track = nullptr;
  std::int64_t depth = 0;
  std::int64_t ts = 0;
  std::int64_t dur = 0;
  std::string layer;
  std::string name;
};

// An event as a pass over the index meets it.
struct CanvasEvent {
  std::int64_t ts = 0;
  std::int64_t dur = 0;
  std::int64_t bytes = 0;
  std::int64_t depth = 0;
  std::uint32_t kind = 0;
};

// What a kind of events is called.
struct CanvasKind {
  const std::string& layer;
  const std::string& name;
};

// Longer than any recording.
inline constexpr std::int64_t kWholeTime = std::int64_t{1} << 61U;

struct CanvasLoss {
  std::string reason;
  std::int64_t count = 0;
};

// Does not change once it is made: any thread may ask.
class Canvas {
 public:
  // kUnavailable where `progress` ended it; kIo where there is no room for its files.
  static Result<Canvas> make(Store& store, const CanvasProgress& progress = {});
  Canvas(Canvas&&) noexcept;
  Canvas& operator=(Canvas&&) noexcept;
  ~Canvas();

  [[nodiscard]] const Tracks& tracks() const;
  [[nodiscard]] const Track* find(TrackId id) const;  // nullptr: none
  // What is not in any box, and why.
  [[nodiscard]] const std::vector<CanvasLoss>& losses() const;

  // Boxes of the tracks that have some; ids that nobody knows are left out.
  [[nodiscard]] Boxes boxes(const Window& window, std::int64_t width,
                            std::span<const TrackId> tracks) const;
  // kNotFound for a row that there is not.
  [[nodiscard]] Result<PlacedEvent> event(std::int64_t row) const;
  // Those around it, the outermost first.
  [[nodiscard]] std::vector<PlacedEvent> around(const PlacedEvent& event) const;

  [[nodiscard]] std::uint32_t kinds() const;
  [[nodiscard]] CanvasKind kind(std::uint32_t number) const;  // from 0 on
  // All events of a track that touch the window, in the order of time, outer ones first.
  Status each_event(TrackId track, const Window& window,
                    const std::function<Status(const CanvasEvent&)>& use) const;

 private:
  class State;
  explicit Canvas(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// kUnavailable: whoever wanted an answer wants it no longer.
[[nodiscard]] Error canvas_ended();

// Of the tracks that are counters. Reads the store's rows each time: they are few.
Result<std::vector<CounterLine>> counter_lines(Store& store, std::span<const Track* const> tracks,
                                               const Window& window, std::int64_t width);

}  // namespace fathom::analysis
