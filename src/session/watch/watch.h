// SPDX-License-Identifier: MIT
// The daemon that records whoever turns to it, or whomever it is told to: what `fathom watch` does.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/watch/watch_settings.h"
#include "trace/decode/host_rows.h"

namespace fathom::session {

// What the caller wants to hear of.
struct WatchHooks {
  std::vector<std::string> command;  // the daemon's own, for the recording
  std::function<void()> ready;       // programs are recorded from now on
  // All rows, from another thread. `start_ns`: between the daemon's start and the recording's.
  std::function<void(const trace::HostRows&, const trace::Strings&, std::int64_t start_ns)> rows;
  std::function<Result<WatchOptions>()> reload;  // the settings as they are now
  std::function<void(const Error&)> trouble;     // what went wrong; the daemon goes on
};

struct WatchOutcome {
  std::string directory;  // of the last recording
  std::optional<Error> trouble;
};

// Records until SIGINT or SIGTERM. SIGHUP reads the settings again. An Error means that nothing was
// recorded, and nothing is left behind. Call before any other thread of this process is started.
Result<WatchOutcome> watch(const WatchOptions& options, const WatchHooks& hooks);

}  // namespace fathom::session
