// SPDX-License-Identifier: MIT
// What a command that records says: a live line on a terminal, the summary at the end, how packing
// goes, and what went wrong.
#pragma once

#include "base/progress.h"
#include "session/run/run.h"

namespace fathom::cli {

// Owns the line on the terminal; when it goes, so does the line. Must outlive the recording that
// has its hooks.
class RecorderWords {
 public:
  // They refer to this object.
  [[nodiscard]] session::RunHooks hooks();
  // No line is left on the terminal.
  void clear();

 private:
  void show(const session::LiveState& state);

  Progress live_, packing_;
  session::LiveState last_;
  double rate_ = 0;  // events a second
};

// What is left to say when everything is over.
void tell_outcome(const session::RunOutcome& outcome);

}  // namespace fathom::cli
