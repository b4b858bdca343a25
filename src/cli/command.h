// SPDX-License-Identifier: MIT
// A command of the program. To add one: a file x_command.cc with its CommandDef, and its name twice
// in commands.cc.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"

namespace fathom::cli {

class Parser;

// Read by main, help, manual pages and completions. `run` is called once in a process.
struct CommandDef {
  std::string_view name;
  std::string_view summary;  // one line, a sentence without full stop
  std::string_view usage;    // what follows the name: "[OPTION…] TRACE"
  std::string_view example;  // whole command lines, one each line
  // Declares its options on the parser, parses, works. Gives the exit status; an Error is told in
  // one line by main.
  Result<int> (*run)(Parser& parser);
};

// In the order that `fathom --help` shows.
[[nodiscard]] std::span<const CommandDef* const> commands();

// nullptr when there is none of that name.
[[nodiscard]] const CommandDef* find_command(std::string_view name);

// "unknown command 'reprot'; did you mean 'report'? …"
[[nodiscard]] Error unknown_command(std::string_view name);

}  // namespace fathom::cli
