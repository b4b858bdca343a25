// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/machine.h"
#include "cli/parser.h"
#include "render/render.h"

namespace fathom::cli {
namespace {

Result<int> run(Parser& parser) {
  std::string name = "table";
  parser.option("--format", name, "FORMAT", "table, json, csv or md (table)");
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  FATHOM_ASSIGN(const render::Format format, render::parse_format(name));
  const std::vector<Table> tables = {layer_table(), machine_table()};
  std::fputs(render::render_document(tables, format, render::style_for(STDOUT_FILENO)).c_str(),
             stdout);
  return 0;
}

}  // namespace

extern const CommandDef kDoctorCommand;
const CommandDef kDoctorCommand = {
    .name = "doctor",
    .summary = "Tells what can be recorded on this machine, and the line that fixes what cannot",
    .usage = "[OPTION…]",
    .example = "fathom doctor\nfathom doctor --format json",
    .run = run,
};

}  // namespace fathom::cli
