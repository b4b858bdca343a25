// SPDX-License-Identifier: MIT
// The options by which a command's tables are printed: --format and --safe-csv.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/parser.h"
#include "render/render.h"

namespace fathom::cli {

struct OutputOptions {
  std::string format = "table";
  bool safe_csv = false;
};

// How tables are printed, once --format was understood.
struct Output {
  render::Format format = render::Format::kTable;
  render::Style style;

  // Laid out for reading, as against rows for programs.
  [[nodiscard]] bool for_people() const {
    return format == render::Format::kTable || format == render::Format::kMarkdown;
  }
};

void declare_output(Parser& parser, OutputOptions& options);
void declare_safe_csv(Parser& parser, bool& safe_csv);

// After parse(). The style suits stdout.
Result<Output> output_of(const OutputOptions& options);

}  // namespace fathom::cli
