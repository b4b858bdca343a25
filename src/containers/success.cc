// SPDX-License-Identifier: MIT
// Judges a run by its exit status and, where the instructions ask for it, by a text in its output,
// which is searched in pieces because it may be large.
#include "containers/success.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/files.h"
#include "base/text.h"
#include "containers/text_finder.h"

namespace fathom::containers {
namespace {

bool is_accepted(const SuccessCheck& check, int exit, bool timed_out) {
  if (check.exits.empty()) return exit == 0 || timed_out;
  return std::ranges::find(check.exits, exit) != check.exits.end();
}

Result<bool> has_text(const std::string& path, const std::string& wanted) {
  constexpr std::size_t kPiece = std::size_t{1} << 20U;
  FATHOM_ASSIGN(const File file, File::open(path, O_RDONLY | O_NOFOLLOW));
  LineFinder finder(wanted);
  for (std::uint64_t at = 0;; at += kPiece) {
    FATHOM_ASSIGN(const std::string piece, file.read_range(at, kPiece));
    finder.feed(piece);
    if (piece.size() < kPiece) return finder.finish();
  }
}

}  // namespace

Result<std::string> failure_of(const SuccessCheck& check, int exit, bool timed_out,
                               const std::string& out) {
  if (!is_accepted(check, exit, timed_out))
    return fmt::format(
        "it ended with status {}, not with {}", exit,
        check.exits.empty() ? "0" : fmt::format("{}", fmt::join(check.exits, " or ")));
  if (check.output.empty()) return std::string();
  FATHOM_ASSIGN(const bool found, has_text(out, check.output));
  return found ? std::string()
               : fmt::format("stdout does not contain \"{}\"", escape_control(check.output));
}

}  // namespace fathom::containers
