// SPDX-License-Identifier: MIT
// The file is input: lines that say nothing are left out.
#include "trace/recording/uncovered.h"

#include "base/text.h"
#include "base/utf8.h"
#include "trace/recording/obstacle.h"
#include "wire/exec.h"

namespace fathom::trace {
namespace {

constexpr std::size_t kMostBytes =
    std::size_t{2} * FATHOM_UNCOVERED_MAX;  // the last line may be a long one

}  // namespace

std::vector<NotCovered> left_alone(const Directory& spool) {
  std::vector<NotCovered> programs;
  const Result<std::string> text = spool.read_whole(FATHOM_UNCOVERED_FILE, kMostBytes);
  if (!text) return programs;
  for (const std::string_view line : split(*text, '\n')) {
    const std::size_t first = line.find(' ');
    const std::size_t second = line.find(' ', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const Result<std::int64_t> pid = parse_int(line.substr(0, first));
    const Result<std::int64_t> flags = parse_int(line.substr(first + 1, second - first - 1));
    const std::string_view path = line.substr(second + 1);
    if (!pid || *pid <= 0 || !flags || (*flags & FATHOM_EXEC_FEW_ADDRESSES) == 0 || path.empty())
      continue;
    programs.push_back({.pid = *pid,
                        .program = escape_invalid_utf8(path),
                        .reason = std::string(kFewAddresses),
                        .what = ""});
  }
  return programs;
}

}  // namespace fathom::trace
