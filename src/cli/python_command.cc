// SPDX-License-Identifier: MIT
// `fathom python add`: the extension for an interpreter that the build did not know.
#include <fmt/format.h>

#include <string>

#include "base/text.h"
#include "cli/command.h"
#include "cli/parser.h"
#include "cli/tell.h"
#include "session/python_extension.h"

namespace fathom::cli {
namespace {

Result<int> run(Parser& parser) {
  std::string action;
  std::string interpreter;
  parser.positional("add", action, "what to do: add builds the extension for an interpreter");
  parser.positional("PYTHON", interpreter, "the interpreter: a path, or a name on PATH");
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  if (action != "add")
    return usage_error("unknown action '" + escape_control(action) + "'",
                       "write: fathom python add PYTHON");
  FATHOM_ASSIGN(const session::Built built, session::build_extension(interpreter));
  FATHOM_TRY(print(fmt::format("Python {} is traced from now on, by {}\n",
                               escape_control(built.version), escape_control(built.path))));
  return 0;
}

}  // namespace

extern const CommandDef kPythonCommand;
const CommandDef kPythonCommand = {
    .name = "python",
    .summary = "Build the extension that traces one more Python interpreter",
    .usage = "add PYTHON",
    .example = "fathom python add /opt/conda/bin/python3",
    .run = run,
};

}  // namespace fathom::cli
