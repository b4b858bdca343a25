// SPDX-License-Identifier: MIT
// A process beside the agent that sends what a recording knows of the profile, while the program
// runs and when it has ended. A process, because recorders want to have no other thread, and so
// that an agent that is killed leaves somebody who sends what was recorded until then.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/files.h"
#include "base/result.h"
#include "cli/fleet/agent.h"

namespace fathom::cli {

// Owns the child. Gone without finish(), it gives up.
class ProfileStream {
 public:
  // `directory`: of a recording that is about to be made.
  static Result<ProfileStream> start(const AgentArguments& arguments, const std::string& directory);
  ProfileStream(ProfileStream&&) = default;
  ProfileStream& operator=(ProfileStream&&) = delete;
  ~ProfileStream();

  // The recording is complete: sends the rest, and waits until that is done. An Error: some of it
  // may be missing; what went wrong has been told.
  Status finish();
  // There is no recording.
  void give_up();

 private:
  ProfileStream(pid_t child, Fd ending) : child_(child), ending_(std::move(ending)) {}
  pid_t child_;
  Fd ending_;  // a byte says that the program has ended; its closing, that the agent has
};

}  // namespace fathom::cli
