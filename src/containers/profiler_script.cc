// SPDX-License-Identifier: MIT
// Holds the script as text. Only the loader's name is filled in, which depends on the architecture;
// base_layer.cc puts the script into the image.
#include "containers/profiler_script.h"

#include <fmt/format.h>

namespace fathom::containers {

// Words of the shell alone: an image may have no other program.
std::string profiler_script(const std::string& loader) {
  return fmt::format(R"(#!/bin/sh
# Runs the application with probes, and leaves what it needs in /app/profile_output: functions and
# loops (ftimes.csv, ltimes.csv), resources (stats.csv), a profile of TAU's (profile.0.0.0) and the
# recording that they come from. The exit status is the application's.
#   ./profiler.sh [ARGUMENT...]              runs python3 app.py ARGUMENT...
#   ./profiler.sh -- PROGRAM [ARGUMENT...]   runs any program
#   FATHOM_PROFILE_SECONDS=60   stops it then, and runs it once more without probes; 0: no limit
#   FATHOM_PROFILE_GRACE=5      seconds from one signal to the next: SIGINT, SIGTERM, SIGKILL
#   FATHOM_PROFILE_OUTPUT       another folder than /app/profile_output
#   FATHOM_PROFILE_METRICS      [ADDRESS:]PORT to serve live values at, for Prometheus
here=/app/.fathom
if [ "$1" = -- ]; then
  shift
else
  set -- python3 app.py "$@"
fi
# In the shell's place: as the first process of a container it would not hear `docker stop`.
exec "$here/{0}" --library-path "$here" "$here/fathom" container inside -- "$@"
)",
                     loader);
}

}  // namespace fathom::containers
