// SPDX-License-Identifier: MIT
// A first look decodes what is not packed yet, later ones what came since: so a recording stays
// open while somebody asks.
#include "serve/recordings/live_looks.h"

#include <algorithm>
#include <utility>

#include "analysis/live/being_made.h"
#include "analysis/live/live_recording.h"
#include "base/clock.h"

namespace fathom::serve {
namespace {

constexpr std::int64_t kPauseNs = 900'000'000;       // between two looks
constexpr std::int64_t kUnaskedNs = 10'000'000'000;  // then nobody is interested any more

}  // namespace

struct LiveLooks::One {
  analysis::LiveRecording recording;
  Growth growth = {};
  std::int64_t looked_ns = 0;
  std::int64_t asked_ns = 0;
};

LiveLooks::LiveLooks(trace::NameResolver names) : names_(std::move(names)) {}
LiveLooks::~LiveLooks() = default;

Result<Growth> LiveLooks::look_at(const std::string& recording) {
  std::unique_ptr<One>& one = open_[recording];
  if (!one) {
    FATHOM_ASSIGN(analysis::LiveRecording live, analysis::LiveRecording::open(recording, names_));
    one = std::make_unique<One>(One{std::move(live)});
  }
  const std::int64_t now = now_monotonic_ns();
  one->asked_ns = now;
  if (one->looked_ns != 0 && now - one->looked_ns < kPauseNs) return one->growth;
  FATHOM_ASSIGN(const analysis::Activity activity, one->recording.look());
  one->growth = {!activity.writers.empty(), activity.elapsed_ns, activity.total_events};
  one->looked_ns = now_monotonic_ns();
  return one->growth;
}

void LiveLooks::forget_unasked() {
  const std::int64_t now = now_monotonic_ns();
  std::erase_if(open_, [&](const auto& entry) {
    return !entry.second || now - entry.second->asked_ns > kUnaskedNs;
  });
}

Growth LiveLooks::look(const std::string& path) {
  Growth all;
  const std::scoped_lock lock(mutex_);
  for (const std::string& recording : analysis::recordings_being_made(path)) {
    const Result<Growth> growth = look_at(recording);
    if (!growth || !growth->is_running) continue;
    all.is_running = true;
    all.wall_ns = std::max(all.wall_ns, growth->wall_ns);
    all.events += growth->events;
  }
  forget_unasked();
  return all;
}

}  // namespace fathom::serve
