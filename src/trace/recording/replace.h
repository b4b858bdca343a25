// SPDX-License-Identifier: MIT
// What a new recording may take the place of. Only an empty directory, or a recording with nothing
// beside what Fathom makes, is ever removed.
#pragma once

#include <string>

#include "base/result.h"

namespace fathom::trace {

// kInvalid with the reason: somebody writes it, it is no recording, a file in it is not ours, or we
// stand in it.
Status check_replaceable(const std::string& path);

// Checks again, and removes the directory with the files whose names are ours, one by one.
Status remove_recording(const std::string& path);

}  // namespace fathom::trace
