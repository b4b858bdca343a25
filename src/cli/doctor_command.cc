// SPDX-License-Identifier: MIT
// `fathom doctor`: only prints; what is looked at is in machine.cc.
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/machine.h"
#include "cli/output.h"
#include "cli/parser.h"
#include "cli/tell.h"
#include "render/render.h"

namespace fathom::cli {
namespace {

Result<int> run(Parser& parser) {
  OutputOptions options;
  declare_output(parser, options);
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  FATHOM_ASSIGN(const Output output, output_of(options));
  const std::vector<Table> tables = {layer_table(), machine_table()};
  FATHOM_TRY(print(render::render_document(tables, output.format, output.style)));
  return 0;
}

}  // namespace

extern const CommandDef kDoctorCommand;
const CommandDef kDoctorCommand = {
    .name = "doctor",
    .summary = "Show what can be recorded on this machine, and the command that fixes what cannot",
    .usage = "[OPTION…]",
    .example = "fathom doctor\nfathom doctor --format json",
    .run = run,
};

}  // namespace fathom::cli
