// SPDX-License-Identifier: MIT
// One supervised recording from start to stop: what `fathom run` does.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/gpu_options.h"
#include "session/python_options.h"
#include "session/stream/pump.h"
#include "session/stream/row_stream.h"
#include "trace/recording/manifest.h"
#include "trace/recording/packer.h"

namespace fathom::session {

// What the user asked for. Checked by run() before anything is made.
struct RunOptions {
  std::vector<std::string> command;  // at least one word
  std::string output;                // directory; "": named after program and time
  bool force = false;                // an existing recording may be replaced
  std::string layers;                // as --layers
  std::vector<std::string> paths;    // only I/O on files below these
  std::vector<std::string> calls;    // only these calls; "-name" leaves one out
  PythonOptions python;              // of layer python
  GpuOptions gpu;                    // of layer gpu
  std::uint64_t spool_max = 0;       // bytes; 0: by what is free
  bool block_when_full = false;
  double hz = 10;            // samples of resources a second
  double sample_hz = 99;     // of layer cpu; 0: it is not recorded
  std::string sample_event;  // what it samples; "": the CPU's time
  std::string count;         // events of perf to count over time, as `stat -e`
  std::int64_t count_interval_ns = 100'000'000;
  std::string region_events;                 // events of perf to count on regions
  std::int64_t interval_ns = 1'000'000'000;  // of calls that are added up
  std::vector<std::string> detail;           // layers of the kernel with an event for each call
  std::vector<std::string> functions;        // of layer user
  bool returns = false;                      // of these functions, whatever comes of it
  std::vector<std::string> categories;       // of these, CATEGORY=[PATH:]NAME or REGEX
  std::vector<std::string> filters;          // of layers of the kernel, [LAYER:]KEY=VALUE
  std::uint32_t ring_bytes = 0;              // of the kernel, for single calls; 0: enough
  std::uint32_t rows = 0;                    // of the kernel's sums; 0: enough
  std::optional<gid_t> share;                // a group that may read the recording
  bool no_command = false;                   // of programs, neither arguments nor environment
};

// What the program did and what became of its recording: two things, either of which may fail
// alone.
struct RunOutcome {
  int exit_status = 0;               // the program's; 126 or 127 when it could not be started
  int signal = 0;                    // that ended the program; 0: none
  std::optional<Error> not_started;  // then nothing was recorded and nothing is left behind
  std::string directory;             // of the recording, absolute
  bool interrupted = false;      // a signal ended the packing: the rest waits in the spool, sound
  std::optional<Error> trouble;  // what of the recording went wrong; the program was not affected
  std::optional<Error> rows_trouble;  // why RunHooks::rows has not got all of them
};

// How the recording goes while the program runs.
struct LiveState {
  std::int64_t elapsed_ns = 0;
  Flow flow;
};

// All that was recorded, known before it is packed.
struct Ended {
  const std::string& directory;
  const trace::Totals& totals;
  const trace::Strings& strings;  // of the totals
};

// How far packing is.
struct PackingState {
  std::uint64_t packed = 0;  // events
  std::uint64_t all = 0;
};

// What the caller wants to hear of; all are called from the calling thread, and any may be empty.
struct RunHooks {
  std::function<void(const LiveState&)> live;        // about ten times a second
  std::function<void(const Ended&)> ended;           // once, where nothing went wrong so far
  std::function<void(const PackingState&)> packing;  // before each Parquet file
  // Makes whoever takes rows while the program runs, from another thread (`start_ns` is the date of
  // ts 0), all of them before `ended`. Asked where layer `rows_layer` is recorded.
  std::function<std::unique_ptr<RowConsumer>(const std::string& directory, std::int64_t start_ns)>
      rows = {};
  std::string rows_layer = {};
};

// Runs the program to its end and packs what is not packed then, unless SIGINT, SIGTERM, SIGHUP or
// SIGQUIT comes while it does. An Error, or an exception, means that the program was not started:
// once it is, its status comes back whatever happens to the recording. Call before any other thread
// of this process is started.
Result<RunOutcome> run(const RunOptions& options, const RunHooks& hooks);

}  // namespace fathom::session
