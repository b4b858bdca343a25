// SPDX-License-Identifier: MIT
// What the page's list says of each recording: read from manifests, and again only when they have
// changed.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "serve/recordings/open_recordings.h"
#include "serve/recordings/recording_stamp.h"
#include "trace/recording/manifest.h"

namespace fathom::serve {

struct RecordingCard {
  std::string problem;  // why it cannot be opened; then the rest is empty
  std::vector<std::string> command;
  trace::RunState state = trace::RunState::kComplete;
  std::string state_reason;  // why partial
  std::optional<std::int64_t> wall_ns;
  std::optional<std::int64_t> exit_status;  // of several recordings: where all ended alike
  std::optional<std::int64_t> overhead_ns;  // what recording took, as `fathom info` estimates it
  std::size_t runs = 1;                     // more than one: a directory of repetitions
  std::vector<std::string> hosts;
  std::int64_t events = 0;  // of all layers, samples and counters too
  std::vector<trace::LayerState> layers;
  std::vector<trace::Loss> losses;
};

// Any thread.
class RecordingCards {
 public:
  explicit RecordingCards(trace::NameResolver names) : names_(std::move(names)) {}

  RecordingCard card_of(const std::string& path);

 private:
  struct Kept {
    RecordingStamp stamp;
    std::int64_t read_ns = 0;
    RecordingCard card;
  };
  trace::NameResolver names_;
  std::mutex mutex_;
  std::map<std::string, Kept> kept_;
};

}  // namespace fathom::serve
