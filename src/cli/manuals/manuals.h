// SPDX-License-Identifier: MIT
// Manual pages and completions of the command line, made from the same definitions as --help, so
// that they name what the program takes. main.cc writes them into files when Fathom is built.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/parser.h"

namespace fathom::cli {

// A command with all that it takes.
struct Manual {
  const CommandDef* command;
  Signature takes;  // --help included
};

// Of all commands, in the order of `fathom --help`.
[[nodiscard]] std::vector<Manual> manuals();

// fathom.1 and fathom-COMMAND.1, in roff.
[[nodiscard]] std::string overview_page(const std::vector<Manual>& manuals);
[[nodiscard]] std::string command_page(const Manual& manual);

// What a shell sources to complete command lines of `fathom`.
[[nodiscard]] std::string bash_completion(const std::vector<Manual>& manuals);
[[nodiscard]] std::string zsh_completion(const std::vector<Manual>& manuals);
[[nodiscard]] std::string fish_completion(const std::vector<Manual>& manuals);

// How the value of an argument can be completed.
struct Values {
  enum class Kind { kNone, kWords, kFiles };
  Kind kind = Kind::kNone;
  std::vector<std::string> words;  // of kWords; a comma list of them where `list`
  bool list = false;
};
[[nodiscard]] Values values_of(const CommandDef& command, const Argument& argument);

// "-o,--output" as {"-o", "--output"}.
[[nodiscard]] std::vector<std::string> names_of(const Argument& argument);

}  // namespace fathom::cli
