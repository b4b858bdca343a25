// SPDX-License-Identifier: MIT
// Which runs a path names. A recording is one run. A directory of recordings is either one run of
// several hosts or ranks, or a run repeated: entries of the same program that follow each other in
// time are repetitions. Entries that overlap are one run, and so are steps of several programs and
// what a daemon recorded piece by piece. An entry is a recording, or a directory with recordings of
// its own, which is one run in any case.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fathom::analysis {

// Paths of runs, at least one, each to be opened as one recording. What is no recording is given
// back as it came: opening it says what is wrong.
[[nodiscard]] std::vector<std::string> runs_in(const std::string& path);

// Repetitions in a report, which can show one of them.
struct Repetitions {
  std::string shown;  // the path of the one whose wall time is in the middle
  std::string words;  // how many there are, how long they took, and which one is shown
};
// Nothing where the path names one run.
[[nodiscard]] std::optional<Repetitions> repetitions_in(const std::string& path);

}  // namespace fathom::analysis
