// SPDX-License-Identifier: MIT
// The folder of a work, which the machine that runs it and the one that asked for it both see:
// `work.json` says what to do; `log` is what the program prints; `beat` has a number that grows
// while somebody works; `result.json` is there, whole, when it has ended. Whoever runs it writes
// these itself, so that a batch system that lost a machine without noticing is no judge of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/executors/executor.h"

namespace fathom::fleet {

// The words by which this program does a work: `FATHOM suite work PLACE`.
[[nodiscard]] std::vector<std::string> words_of_worker(const std::string& fathom,
                                                       const std::string& place);
// This program's own file.
Result<std::string> own_program();

// Makes the folder, with what is to be done.
Status prepare_place(const Work& work);
// kCorrupt where work.json is damaged, whoever wrote it.
Result<Work> read_work(const std::string& place);

// None: it has not ended, or left no result that can be read.
[[nodiscard]] std::optional<WorkOutcome> read_outcome(const std::string& place);
Status write_outcome(const std::string& place, const WorkOutcome& outcome);
// From the text of `result.json`.
[[nodiscard]] std::optional<WorkOutcome> parse_outcome(const std::string& text);

// 0: nobody has begun.
[[nodiscard]] std::int64_t read_beat(const std::string& place);

// The end of the log, as much as a person may want to see.
Result<std::string> read_log(const std::string& place);

// Does the work of a folder: runs the program with both streams in the log, and leaves the result.
// Gives the program's exit status, also where it could not be started. What is done twice has the
// later result. It changes this process for good (its group, its streams), which is killed when its
// parent ends: only for a process that does nothing else.
Result<int> do_work(const std::string& place);

}  // namespace fathom::fleet
