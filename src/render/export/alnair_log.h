// SPDX-License-Identifier: MIT
// The two logs of Alnair's CUDA interposer, for scripts that read them: metrics.log, a line for
// each function that it knew, and timeline.log, a line for each call. Durations are those of the
// calls on the host, in whole microseconds (`burst`), as they were there; what was counted wrongly
// there is counted right: calls and not look-ups, memory when the call worked, launches of every
// form.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "render/export/event_stream.h"

namespace fathom::render {

inline constexpr std::string_view kAlnairMetrics = "metrics.log";
inline constexpr std::string_view kAlnairTimeline = "timeline.log";

// metrics.log: sums of events.
class AlnairMetrics {
 public:
  static constexpr std::size_t kRows = 10;

  void add(const ExportEvent& event);
  [[nodiscard]] std::string text() const;

  // Numbers that another one can go on from, with spaces between.
  [[nodiscard]] std::string state() const;
  [[nodiscard]] static AlnairMetrics from_state(std::string_view state);

 private:
  std::int64_t in_use_ = 0;
  std::array<std::int64_t, kRows> counts_{};
  std::array<std::int64_t, kRows> times_{};  // ns
};

// A line of timeline.log; nothing for an event that has none. `start_ns` is the date of ts 0.
void append_alnair_line(const ExportEvent& event, std::int64_t start_ns, std::string& to);

}  // namespace fathom::render
