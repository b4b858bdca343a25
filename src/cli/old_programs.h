// SPDX-License-Identifier: MIT
// The program under the names of profiling-framework's: profiling-server, profiling-controller,
// profiling-client, benchmark-client, profiling-parser and profiling-dump, with its flags and
// words. They are doors into `fathom server`, `job` and `agent`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::cli {

// Whether the program was started by one of these names; also with .py behind it.
[[nodiscard]] bool is_old_program(std::string_view program);

// `run` runs a command of ours by its name. `words` are behind the program's name.
using RunsCommand = Result<int> (*)(const std::string& name, std::vector<std::string> words);
Result<int> run_old_program(std::string_view program, const std::vector<std::string>& words,
                            RunsCommand run);

}  // namespace fathom::cli
