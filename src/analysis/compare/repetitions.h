// SPDX-License-Identifier: MIT
// Which runs a path names. A recording is one run. A directory of recordings is either one run of
// several hosts or ranks, or a run repeated: entries that follow each other in time are
// repetitions, entries that overlap are one run. An entry is a recording, or a directory with
// recordings of its own, which is one run in any case.
#pragma once

#include <string>
#include <vector>

namespace fathom::analysis {

// Paths of runs, at least one, each to be opened as one recording. What is no recording is given
// back as it came: opening it says what is wrong.
[[nodiscard]] std::vector<std::string> runs_in(const std::string& path);

}  // namespace fathom::analysis
