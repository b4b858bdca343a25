// SPDX-License-Identifier: MIT
// perf's stacks count for their innermost frame, without its offset; modules by their file's name,
// as profiling-framework had them.
#include "fleet/agents/profile_lines.h"

#include <string>

#include "base/files.h"
#include "base/text.h"
#include "base/utf8.h"
#include "fleet/row_json.h"

namespace fathom::fleet {
namespace {

constexpr char kUnknown[] = "[unknown]";  // as perf says it

std::string named(std::string_view text) {
  return text.empty() ? kUnknown : escape_invalid_utf8(text);
}

}  // namespace

ProfileLines::ProfileLines(Takes take)
    : take_(std::move(take)),
      perf_([this](const analysis::ImportedSample& sample) { return add_sample(sample); }) {}

Status ProfileLines::hand_on(const ProfileRow& row) {
  ++rows_;
  return take_(row);
}

Status ProfileLines::add_sample(const analysis::ImportedSample& sample) {
  analysis::ImportedFrame innermost;
  if (!sample.frames.empty()) innermost = sample.frames.back();
  return hand_on({.node = named(innermost.function),
                  .exec = named(base_name(innermost.module)),
                  .event = named(sample.event),
                  .count = sample.weight});
}

void ProfileLines::add_damaged() {
  ++lines_;
  ++damaged_;
  if (first_damaged_ == 0) first_damaged_ = lines_;
}

Status ProfileLines::add(std::string_view line) {
  if (trim(line).starts_with('{')) return add_json(line);
  FATHOM_ASSIGN(const bool known, perf_.add(line));
  if (known) {
    ++lines_;
  } else {
    add_damaged();
  }
  return {};
}

Status ProfileLines::add_json(std::string_view line) {
  FATHOM_TRY(perf_.finish());
  const Result<ProfileRow> row = parse_row(line);
  if (!row) {
    add_damaged();
    return {};
  }
  ++lines_;
  return hand_on(*row);
}

Status ProfileLines::finish() { return perf_.finish(); }

}  // namespace fathom::fleet
