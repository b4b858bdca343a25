// SPDX-License-Identifier: MIT
// The user's newest recording, so that `last` stands for it wherever a recording is named. Its path
// lies in $XDG_STATE_HOME/fathom (~/.local/state/fathom), which is this user's alone.
#pragma once

#include <string>

#include "base/result.h"

namespace fathom::trace {

// The word that users write; "./last" is a recording of that name.
constexpr char kNewestWord[] = "last";

// Notes that this directory, an absolute path, is the newest one. It is a comfort: where there is
// no home, or it belongs to another user (sudo), nothing is written and nobody is told.
void remember_newest(const std::string& directory);

// kNotFound where nothing was recorded yet, or where it is gone.
Result<std::string> newest_recording();

}  // namespace fathom::trace
