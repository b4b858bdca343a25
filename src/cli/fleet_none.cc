// SPDX-License-Identifier: MIT
// Stands for the folder fleet/ in a build without the fleet: the same names, each with the reason
// and what to build with. So --help, completions and main know one list of commands, and nobody is
// told "unknown command" of one that the documents describe.
#include "cli/command.h"
#include "cli/far_trace.h"
#include "cli/fleet_lacks.h"
#include "cli/machine.h"
#include "cli/old_programs.h"
#include "cli/page_export.h"
#include "cli/top/top_server.h"

namespace fathom::cli {

extern const CommandDef kViewCommand;
extern const CommandDef kServerCommand;
extern const CommandDef kJobCommand;
extern const CommandDef kAgentCommand;
extern const CommandDef kSuiteCommand;
extern const CommandDef kContainerCommand;

const CommandDef kViewCommand = {
    .name = "view",
    .summary = "Look at recordings in the browser (not in this build)",
    .usage = "[OPTION…] TRACE…",
    .example = "fathom view sort.fathom",
    .run = tell_what_fleet_lacks,
};
const CommandDef kServerCommand = {
    .name = "server",
    .summary = "Keep the jobs of many machines (not in this build)",
    .usage = "[OPTION…]",
    .example = "fathom server",
    .run = tell_what_fleet_lacks,
};
const CommandDef kJobCommand = {
    .name = "job",
    .summary = "Make and show jobs (not in this build)",
    .usage = "ACTION [NAME] [OPTION…]",
    .example = "fathom job list",
    .run = tell_what_fleet_lacks,
};
const CommandDef kAgentCommand = {
    .name = "agent",
    .summary = "Measure a program and send the numbers to a job (not in this build)",
    .usage = "ACTION --job NAME [OPTION…]",
    .example = "fathom agent flush",
    .run = tell_what_fleet_lacks,
};
const CommandDef kSuiteCommand = {
    .name = "suite",
    .summary = "Run many programs with many parameters (not in this build)",
    .usage = "run [OPTION…] SPEC",
    .example = "fathom suite run nightly.yaml",
    .run = tell_what_fleet_lacks,
};
const CommandDef kContainerCommand = {
    .name = "container",
    .summary = "Run an application in containers (not in this build)",
    .usage = "run [OPTION…] SPEC|IMAGE [ARGUMENT…]",
    .example = "fathom container run my/app:1",
    .run = tell_what_fleet_lacks,
};

std::vector<Value> container_fact() {
  return {Value(std::string("containers")), Value(std::string("note")),
          Value(what_fleet_lacks().message), Value()};
}

bool is_far_trace(std::string_view word) {
  return word.starts_with("http://") || word.starts_with("https://") ||
         word.starts_with("recording:");
}

Status export_page(const std::string& /*trace*/, analysis::RowFilter /*filter*/,
                   const std::string& /*output*/) {
  Error lacks = what_fleet_lacks();
  lacks.message = "this build of Fathom has no page to export; " + lacks.message;
  return lacks;
}

Result<std::string> open_far_trace(const std::string& /*word*/) { return what_fleet_lacks(); }

Result<int> run_old_program(std::string_view /*program*/, const std::vector<std::string>& /*words*/,
                            RunsCommand /*run*/) {
  return what_fleet_lacks();
}

namespace top {

Result<std::unique_ptr<TopSource>> watch_server(const ServerChoice& /*choice*/) {
  return what_fleet_lacks();
}

bool has_server() { return false; }

}  // namespace top

}  // namespace fathom::cli
