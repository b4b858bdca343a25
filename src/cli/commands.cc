// SPDX-License-Identifier: MIT
// The list of commands: the one place that names them all. Help, manual pages, completions and main
// take them from here, in its order.
#include <algorithm>
#include <string>
#include <vector>

#include "base/suggest.h"
#include "base/text.h"
#include "cli/command.h"

namespace fathom::cli {

extern const CommandDef kRunCommand;
extern const CommandDef kReportCommand;
extern const CommandDef kShowCommand;
extern const CommandDef kViewCommand;
extern const CommandDef kSqlCommand;
extern const CommandDef kInfoCommand;
extern const CommandDef kTopCommand;
extern const CommandDef kDiffCommand;
extern const CommandDef kCheckCommand;
extern const CommandDef kStatCommand;
extern const CommandDef kNeedsCommand;
extern const CommandDef kPlotCommand;
extern const CommandDef kExportCommand;
extern const CommandDef kImportCommand;
extern const CommandDef kSymbolizeCommand;
extern const CommandDef kCollectCommand;
extern const CommandDef kWatchCommand;
extern const CommandDef kAttachCommand;
extern const CommandDef kServerCommand;
extern const CommandDef kJobCommand;
extern const CommandDef kAgentCommand;
extern const CommandDef kSuiteCommand;
extern const CommandDef kContainerCommand;
extern const CommandDef kDoctorCommand;
extern const CommandDef kPythonCommand;
extern const CommandDef kMovingCommand;

namespace {

const CommandDef* const kCommands[] = {
    &kRunCommand,     &kReportCommand, &kShowCommand,   &kViewCommand,      &kSqlCommand,
    &kInfoCommand,    &kTopCommand,    &kDiffCommand,   &kCheckCommand,     &kStatCommand,
    &kNeedsCommand,   &kPlotCommand,   &kExportCommand, &kImportCommand,    &kSymbolizeCommand,
    &kCollectCommand, &kWatchCommand,  &kAttachCommand, &kContainerCommand, &kServerCommand,
    &kJobCommand,     &kAgentCommand,  &kSuiteCommand,  &kDoctorCommand,    &kPythonCommand,
    &kMovingCommand,
};

}  // namespace

std::span<const CommandDef* const> commands() { return kCommands; }

const CommandDef* find_command(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(kCommands, [&](const CommandDef* def) { return def->name == name; });
  return found == std::end(kCommands) ? nullptr : *found;
}

Error unknown_command(std::string_view name) {
  std::vector<std::string_view> names;
  for (const CommandDef* def : kCommands) names.push_back(def->name);
  const std::string_view near = nearest(name, names);
  const std::string hint = near.empty() ? "'fathom --help' lists the commands"
                                        : "did you mean 'fathom " + std::string(near) + "'?";
  return usage_error("unknown command '" + escape_control(name) + "'", hint);
}

}  // namespace fathom::cli
