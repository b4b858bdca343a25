// SPDX-License-Identifier: MIT
// One recording of processes that run already: what `fathom attach -o` does.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/run/run.h"

namespace fathom::session {

inline constexpr char kAttachLayers[] = "cpu,resource";  // where nobody names any

// What is to be recorded of which processes, and for how long.
struct AttachOptions {
  std::vector<pid_t> processes;  // at least one, or
  std::string container;         // a container's id: all processes of its control group
  std::string output;            // directory
  bool force = false;            // an existing recording may be replaced
  std::string layers;            // as --layers; "": kAttachLayers
  double hz = 10;                // samples of resources a second
  double sample_hz = 99;         // of layer cpu
  std::string sample_event;      // what it samples; "": the CPU's time
  std::string count;             // events of perf to count over time, as `stat -e`
  std::int64_t for_ns = 0;       // at most so long; 0: to the end
  std::optional<gid_t> share;    // a group that may read the recording
  bool no_command = false;       // arguments of programs are not recorded
};

// Records the processes, their threads and what they start, until all of them (or all processes of
// the container) have ended, the time
// has passed or SIGINT, SIGTERM, SIGHUP or SIGQUIT comes; then packs, unless another one comes. An
// Error means that nothing was recorded, and nothing is left behind. Call before any other thread
// of this process is started.
Result<RunOutcome> attach(const AttachOptions& options, const RunHooks& hooks);

}  // namespace fathom::session
