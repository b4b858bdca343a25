// SPDX-License-Identifier: MIT
// Recordings that a user names by a URL, or as recording:NAME. They are opened for as long as this
// process lives; a build without the fleet says that it cannot.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::cli {

[[nodiscard]] bool is_far_trace(std::string_view word);

// One thread at a time. The directory stays until the process ends.
// A directory that opens like a recording of this machine.
Result<std::string> open_far_trace(const std::string& word);

}  // namespace fathom::cli
