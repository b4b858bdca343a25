// SPDX-License-Identifier: MIT
// The log of a program that was made for DFTracer. It records for us alone (docs/dftracer.md), and
// still finds its files where it asked for them, if that is the place of its results.
#pragma once

#include <string>

#include "base/result.h"
#include "containers/engine.h"
#include "containers/instructions.h"

namespace fathom::containers {

// The name of the log in the place of results; "": no log is asked for, or elsewhere.
[[nodiscard]] std::string dftracer_log_name(const Instructions& wanted, const ImageFacts& image);

// Writes a file for each process of a recording into `results`, which the application could write
// to, by a folder `scratch`, which it could not. The name of each holds the process's number.
Status write_dftracer_log(const std::string& recording, const std::string& name,
                          const std::string& scratch, const std::string& results);

}  // namespace fathom::containers
