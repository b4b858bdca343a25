// SPDX-License-Identifier: MIT
// Recognised only if every line of the head is a stack, since nearly any text has lines that end in
// a number.
#include "analysis/import/collapsed.h"

#include <algorithm>

#include "analysis/import/import.h"
#include "analysis/import/sample_import.h"
#include "base/text.h"

namespace fathom::analysis {

std::optional<CollapsedStack> parse_collapsed(std::string_view line) {
  line = trim(line);
  const std::size_t blank = line.rfind(' ');
  if (blank == std::string_view::npos) return {};
  const Result<std::int64_t> weight = parse_int(line.substr(blank + 1));
  const std::string_view stack = trim(line.substr(0, blank));
  if (!weight || *weight < 0 || stack.empty()) return {};
  return CollapsedStack{split(stack, ';'), *weight};
}

namespace {

// Lines of stacks as samples; empty ones and comments are passed over.
Result<bool> take(std::string_view line, SampleImport& import) {
  if (trim(line).empty() || line.starts_with('#')) return true;
  const std::optional<CollapsedStack> stack = parse_collapsed(line);
  if (!stack) return false;
  std::vector<ImportedFrame> frames;
  for (const std::string_view function : stack->functions) frames.push_back({function, {}, {}});
  ImportedSample sample;
  sample.event = "samples";
  sample.weight = stack->weight;
  sample.frames = frames;
  FATHOM_TRY(import.add(sample));
  return true;
}

Result<ImportOutcome> write(std::span<const std::string> files, const std::string& directory,
                            const ImportOptions& options) {
  FATHOM_ASSIGN(SampleImport import, SampleImport::create(files, directory, options));
  return import.read(files, options,
                     {.line = [&](std::string_view line) { return take(line, import); }});
}

// Every whole line among the first is a stack, and one has an inner function.
bool matches(std::string_view head) {
  constexpr std::size_t kLines = 50;
  std::size_t stacks = 0;
  bool deep = false;
  const bool cut = !head.empty() && head.back() != '\n';
  std::vector<std::string_view> lines = split(head, '\n');
  if (cut && lines.size() > 1) lines.pop_back();
  for (const std::string_view line : lines) {
    if (trim(line).empty() || line.starts_with('#')) continue;
    const std::optional<CollapsedStack> stack = parse_collapsed(line);
    if (!stack) return false;
    deep = deep || stack->functions.size() > 1;
    if (++stacks == kLines) break;
  }
  return deep;
}

}  // namespace

extern const ImporterDef kCollapsedImporter;
const ImporterDef kCollapsedImporter = {
    .name = "collapsed",
    .summary = "collapsed stacks, one per line, as flame graph tools read them",
    .matches = matches,
    .write = write,
};

}  // namespace fathom::analysis
