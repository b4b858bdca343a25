// SPDX-License-Identifier: MIT
// The entry point of an image that profiles its application: as the Waggle application profiler's
// users have it, `./profiler.sh ARGUMENT…` runs app.py, and the files lie in /app/profile_output.
// `profiler.sh -- PROGRAM ARGUMENT…` runs any program.
#pragma once

#include <string>

namespace fathom::containers {

// `loader`: the file beside the program that starts it.
[[nodiscard]] std::string profiler_script(const std::string& loader);

}  // namespace fathom::containers
