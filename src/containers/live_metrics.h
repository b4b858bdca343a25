// SPDX-License-Identifier: MIT
// What a run needs at this moment, and the counters that the application tells, in Prometheus' text
// format: for who looks on while a run goes on. Read from the run's recording, as `fathom top`
// does, when somebody asks: nobody who asks, and nothing is done.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "analysis/live/live_recording.h"
#include "base/result.h"
#include "containers/metrics_door.h"

namespace fathom::containers {

struct MeasuredRun {
  std::string application;
  std::string kind;            // "probed" or "plain"
  std::string recording = {};  // its directory; may be made later
};

// Between two looks the last text is given again, so that many who ask cost no more than one.
class LiveMetrics {
 public:
  static constexpr std::int64_t kPauseNs = 900'000'000;  // between two looks
  explicit LiveMetrics(std::int64_t pause_ns = kPauseNs) : pause_ns_(pause_ns) {}

  // From now on values are of this run; those of the one before are forgotten. Any thread.
  void begin_run(MeasuredRun run);
  // One thread at a time. Where nothing can be read any more, the last values.
  std::string text();

 private:
  void take_begun();
  Result<std::string> look();

  std::mutex mutex_;
  std::optional<MeasuredRun> begun_;  // guarded by mutex_
  MeasuredRun run_;
  std::optional<analysis::LiveRecording> live_;
  std::int64_t pause_ns_;
  std::int64_t next_look_ns_ = 0;
  std::string text_;
};

// The page at `[ADDRESS:]PORT`, until this is gone.
class ServedMetrics {
 public:
  static Result<std::unique_ptr<ServedMetrics>> begin(const std::string& where);

  [[nodiscard]] LiveMetrics& metrics() { return metrics_; }
  [[nodiscard]] const MetricsDoor& door() const { return door_; }

 private:
  explicit ServedMetrics(MetricsDoor door);

  MetricsDoor door_;
  LiveMetrics metrics_;
  std::jthread thread_;  // last: it ends before what it uses
};

// What is known of the run at this moment.
[[nodiscard]] std::string prometheus_text(const analysis::Activity& activity,
                                          const MeasuredRun& run);

}  // namespace fathom::containers
