// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <cstdio>
#include <string>

#include "analysis/info.h"
#include "cli/command.h"
#include "cli/open_trace.h"
#include "cli/parser.h"
#include "render/json_writer.h"
#include "render/render.h"

namespace fathom::cli {
namespace {

std::string info_text(const analysis::Info& info, render::Format format) {
  if (format != render::Format::kJson) {
    return render::render_document(analysis::info_tables(info), format,
                                   render::style_for(STDOUT_FILENO));
  }
  std::string text;
  render::JsonWriter(text).value(analysis::info_object(info));
  return text + "\n";
}

Result<int> run(Parser& parser) {
  std::string trace;
  std::string name = "table";
  parser.positional("TRACE", trace, "the recording, or a directory of recordings");
  parser.option("--format", name, "FORMAT", "table, json, csv or md (table)");
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  FATHOM_ASSIGN(const render::Format format, render::parse_format(name));
  FATHOM_ASSIGN(const analysis::Info info, open_info(trace));
  std::fputs(info_text(info, format).c_str(), stdout);
  return 0;
}

}  // namespace

extern const CommandDef kInfoCommand;
const CommandDef kInfoCommand = {
    .name = "info",
    .summary = "Tells what a recording holds, what it lacks and why",
    .usage = "[OPTION…] TRACE",
    .example = "fathom info sort.fathom\nfathom info sort.fathom --format json",
    .run = run,
};

}  // namespace fathom::cli
