// SPDX-License-Identifier: MIT
// `fathom info`: opens no database, so that it works on any recording and at once.
#include <string>

#include "analysis/info.h"
#include "cli/command.h"
#include "cli/named_trace.h"
#include "cli/open_trace.h"
#include "cli/output.h"
#include "cli/parser.h"
#include "cli/tell.h"
#include "render/json_writer.h"
#include "render/render.h"

namespace fathom::cli {
namespace {

std::string info_text(const analysis::Info& info, const Output& output) {
  if (output.format != render::Format::kJson) {
    return render::render_document(analysis::info_tables(info), output.format, output.style);
  }
  std::string text;
  render::JsonWriter(text).value(analysis::info_object(info));
  return text + "\n";
}

Result<int> run(Parser& parser) {
  std::string trace;
  OutputOptions options;
  parser.positional("TRACE", trace, kTraceHelp);
  declare_output(parser, options);
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  FATHOM_ASSIGN(const Output output, output_of(options));
  FATHOM_ASSIGN(const analysis::Info info, open_info(trace));
  FATHOM_TRY(print(info_text(info, output)));
  return 0;
}

}  // namespace

extern const CommandDef kInfoCommand;
const CommandDef kInfoCommand = {
    .name = "info",
    .summary = "Show what a recording contains and what is missing",
    .usage = "[OPTION…] TRACE",
    .example = "fathom info sort.fathom\nfathom info sort.fathom --format json",
    .run = run,
};

}  // namespace fathom::cli
