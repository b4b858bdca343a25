// SPDX-License-Identifier: MIT
// One container from its making to its removal: started, recorded, heard, stopped when its time is
// over or a signal says so.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "containers/container_plan.h"
#include "containers/engine.h"
#include "containers/instructions.h"
#include "containers/kept_outputs.h"
#include "session/layer_plan.h"
#include "session/signal_queue.h"

namespace fathom::containers {

// Where everything of one run goes.
struct OneRun {
  RunKind kind = RunKind::kPlain;
  std::string name;          // of the container
  std::string recording;     // directories and files, which must not exist
  std::string out, err;      // what the application writes
  std::string results;       // "": it has no place of results
  std::string outputs = {};  // folder for what is copied out; "": nothing is
  std::string scratch;       // for what is mounted meanwhile
  bool shown = false;        // stdout and stderr are ours, too
};

// How a run ended. A trouble is one of the recording: the application was not affected.
struct OneEnding {
  int exit = 0;
  bool oom = false;
  bool timed_out = false;
  bool interrupted = false;  // a signal to us ended it
  double wall_s = 0;         // of the application, without the engine's work before and after it
  std::optional<OutputCounts> outputs;  // what was copied out
  std::vector<std::string> remarks;  // sentences about this run for the profile, without "Run N "
  std::optional<Error> trouble;      // what of the recording went wrong
};

// What all runs of an application share; all of it outlives them.
struct RunContext {
  Engine& engine;
  const Instructions& wanted;
  const ImageFacts& image;
  session::SignalQueue& signals;
  const session::LayerPlan& plan;  // of its kind
  std::string library;             // of probed runs
};

// kDenied: the engine did not start it (refusal_status); kUnavailable: the engine has gone. Nothing
// of the container is left behind then, as far as the engine can be reached.
Result<OneEnding> run_one(const RunContext& context, const OneRun& run);

}  // namespace fathom::containers
