// SPDX-License-Identifier: MIT
// A recording that is being made, looked at from outside again and again. A look reads what came
// since the one before, and the segments that programs write into just now. Nothing is written,
// nothing is locked, and nobody waits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "analysis/live/activity.h"
#include "base/result.h"
#include "trace/rows/name_resolver.h"

namespace fathom::analysis {

// One thread at a time.
class LiveRecording {
 public:
  // One recording directory. kNotFound where there is none, or nothing is recorded there any more.
  static Result<LiveRecording> open(const std::string& directory, trace::NameResolver names);
  LiveRecording(LiveRecording&&) noexcept;
  LiveRecording& operator=(LiveRecording&&) noexcept;
  ~LiveRecording();

  // Texts of the answer are valid until the next look. The first one has no rates.
  Result<Activity> look();

 private:
  class State;
  explicit LiveRecording(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fathom::analysis
