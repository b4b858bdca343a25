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
here=/app/.fathom
out=${{FATHOM_PROFILE_OUTPUT:-/app/profile_output}}
recording=$out/profile.fathom

fathom() {{
  "$here/{0}" --library-path "$here" "$here/fathom" "$@"
}}

if [ "$1" = -- ]; then
  shift
else
  set -- python3 app.py "$@"
fi
# The interpreter's own start and its imports are no functions of the application.
fathom run -q --force -o "$recording" --layers +python --python-loops '*' --python-turns 1000000 \
  --python-modules=-site,-importlib,-_frozen_importlib,-_frozen_importlib_external,-zipimport -- "$@"
status=$?
for format in waggle tau; do
  fathom export "$recording" --format "$format" -o "$out"
done
fathom needs "$recording"
exit $status
)",
                     loader);
}

}  // namespace fathom::containers
