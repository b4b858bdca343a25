// SPDX-License-Identifier: MIT
// File names as the recording shows them: absolute, normalised by text alone, valid UTF-8.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fathom::trace {

// `text` as seen from directory `base` ("" is unknown): joined, without `.`, `..` and `//`, without
// the ` (deleted)` of /proc, bytes that are not UTF-8 as `\xNN`. "" where no absolute path can be
// told, as for `pipe:[7]`.
[[nodiscard]] std::string normalise_path(std::string_view base, std::string_view text);

// Keeps files below certain directories. No prefix: keeps all.
class PathFilter {
 public:
  PathFilter() = default;
  // Absolute prefixes, normalised here; they match at borders of path components.
  explicit PathFilter(const std::vector<std::string>& prefixes);
  [[nodiscard]] bool keeps(std::string_view path) const;
  [[nodiscard]] bool keeps_all() const { return prefixes_.empty(); }

 private:
  std::vector<std::string> prefixes_;
};

}  // namespace fathom::trace
