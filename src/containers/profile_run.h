// SPDX-License-Identifier: MIT
// What `fathom container run` does: the runs of an application, each in a container of its own, and
// one folder with all that came of them (docs/containers.md).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/application/profile.h"
#include "base/result.h"
#include "containers/engine.h"
#include "containers/instructions.h"
#include "session/signal_queue.h"

namespace fathom::containers {

struct ProfileOptions {
  Instructions wanted;
  std::string folder;  // of the results; absolute
  bool force = false;  // results that lie there may be replaced
};

// Called by the thread that runs the application, between its steps. Empty: nothing is said.
struct ProfileHooks {
  std::function<void(const std::string& words)> tell = {};  // what happens next
  // What nobody could know otherwise, also where nothing else is told.
  std::function<void(const std::string& words)> announce = {};
};

struct ProfileOutcome {
  int exit = 0;            // the application's, of its first plain run
  std::size_t failed = 0;  // runs that the check of success did not accept, where one was asked for
  analysis::Profile profile;
  std::vector<Error> troubles;  // of recordings; the application was not affected
};

// kDenied: the engine's no, whose status is refusal_status(). Nothing is left behind then.
// `engine`: nullptr for a command of this machine.
Result<ProfileOutcome> profile_application(Engine* engine, const ProfileOptions& options,
                                           session::SignalQueue& signals,
                                           const ProfileHooks& hooks);

// What people call it: its name, its image or its program.
[[nodiscard]] std::string application_name(const Instructions& wanted);

// The image, which is fetched where it is not there.
Result<ImageFacts> find_image(Engine& engine, const std::string& name,
                              const std::function<bool()>& go_on, const ProfileHooks& hooks);

}  // namespace fathom::containers
