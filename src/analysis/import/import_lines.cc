// SPDX-License-Identifier: MIT
// The loop that importers of line formats share: progress, damage counts, ends of files. What a
// line means is the consumer's; that every line counts as a row, as damage or as left out is
// decided here, once for all formats.
#include "analysis/import/import_lines.h"

#include <optional>

#include "analysis/import/line_reader.h"

namespace fathom::analysis {
namespace {

constexpr std::int64_t kLinesPerProgress = 1 << 14;

}  // namespace

Status import_lines(std::span<const std::string> files, const ImportOptions& options,
                    const LineConsumer& consumer, ImportOutcome& outcome) {
  std::int64_t lines = 0;
  for (const std::string& path : files) {
    FATHOM_ASSIGN(LineReader reader, LineReader::open(path));
    while (true) {
      FATHOM_ASSIGN(const std::optional<std::string_view> line, reader.next());
      if (!line) break;
      if (++lines % kLinesPerProgress == 0 && options.on_progress) options.on_progress(lines);
      FATHOM_ASSIGN(const bool known, consumer.line(*line));
      if (!known) ++outcome.damaged_lines;
    }
    if (consumer.file_ends) FATHOM_TRY(consumer.file_ends());
    outcome.damaged_parts += reader.damage();
    outcome.leave_out(LineReader::kTooLong, reader.too_long());
  }
  return {};
}

}  // namespace fathom::analysis
