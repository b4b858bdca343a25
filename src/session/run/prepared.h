// SPDX-License-Identifier: MIT
// A run before its program starts: what the options ask for, checked and turned into what the
// recording, the program's environment and its first manifest need.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/layer_plan.h"
#include "session/run/broker.h"
#include "session/run/program.h"
#include "session/run/run.h"
#include "sources/function_names.h"
#include "trace/recording/manifest.h"
#include "wire/spool.h"

namespace fathom::session {

// All that is fixed before the program starts.
struct Prepared {
  LayerPlan plan;
  std::string program;                 // path
  std::string library;                 // "" where nothing is recorded in the process
  std::vector<std::string> paths;      // filter, absolute
  std::string choice;                  // options that leave calls out, as words
  std::vector<std::string> further;    // variables of single layers
  std::vector<std::string> uncounted;  // of --region-events, with reasons
  std::string directory;
  fathom_run_header header{};
  std::shared_ptr<symbols::KeptFiles> files = std::make_shared<symbols::KeptFiles>();
  std::unique_ptr<Broker> broker;  // nullptr: what processes cannot open they do without
};

// Everything that can be wrong with the command line, before anything is made.
Result<Prepared> prepare(const RunOptions& options);
// What the recording says of itself as long as the program runs.
[[nodiscard]] trace::Manifest first_manifest(const Prepared& prepared, const RunOptions& options);
// The program, with the library in its environment where it can take it.
[[nodiscard]] ProgramSpec program_spec(const Prepared& prepared, const RunOptions& options);
// Which limit of this process leaves no room for the library; "": none does.
[[nodiscard]] std::string limit_in_the_way();

}  // namespace fathom::session
