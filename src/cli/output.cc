// SPDX-License-Identifier: MIT
// The output options that all commands with tables share, so that --format means the same
// everywhere and what may not go together is refused by the same words.
#include "cli/output.h"

#include <unistd.h>

namespace fathom::cli {

void declare_output(Parser& parser, OutputOptions& options) {
  parser.option("--format", options.format, "FORMAT", "table, json, csv or md (default: table)");
  declare_safe_csv(parser, options.safe_csv);
}

void declare_safe_csv(Parser& parser, bool& safe_csv) {
  parser.flag(
      "--safe-csv", safe_csv,
      "with --format csv, put an apostrophe before text that a spreadsheet would run as a formula");
}

Result<Output> output_of(const OutputOptions& options) {
  FATHOM_ASSIGN(const render::Format format, render::parse_format(options.format));
  if (options.safe_csv && format != render::Format::kCsv)
    return usage_error("--safe-csv needs csv output", "add --format csv");
  Output output{.format = format, .style = render::style_for(STDOUT_FILENO)};
  output.style.safe_csv = options.safe_csv;
  return output;
}

}  // namespace fathom::cli
