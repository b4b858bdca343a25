// SPDX-License-Identifier: MIT
// Packs what unsupervised programs record, while they run, and adds what they use: what `fathom
// collect` does.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "session/stream/pump.h"
#include "trace/recording/manifest.h"

namespace fathom::session {

struct CollectOptions {
  std::string directory;
  bool follow = false;  // wait for a recording to appear, and for further programs, until a signal
  bool ended = false;   // programs of another machine have ended: the caller knows
  double hz = 10;       // samples of resources a second
  std::optional<gid_t> share;  // a group that may read the recording
};

struct CollectOutcome {
  bool interrupted = false;    // by a signal; what was recorded is safe
  bool writers_alive = false;  // programs still record: what they write stays in the spool
  std::string unknown_on;      // where programs may still record that cannot be seen; the same
  trace::RunState state = trace::RunState::kComplete;
  std::optional<Error> trouble;
};

// Returns when all programs that record into the directory have ended and everything is packed, or
// on a signal that asks to end (signal_policy.h). `live` is called about ten times a second, from
// the calling thread. kNotFound where nothing records there; after any Error, what is not packed is
// still in the spool. Call before any other thread is started.
Result<CollectOutcome> collect(const CollectOptions& options,
                               const std::function<void(const Flow&)>& live);

}  // namespace fathom::session
