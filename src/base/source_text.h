// SPDX-License-Identifier: MIT
// Lines of source files, by the paths that debug information names. A recording may come from
// anybody, and so may these paths: only what is plainly source code is read. That is a regular file
// (no link in its last step, no device, nothing of /proc, /sys or /dev) by an absolute path without
// "..", with an ending that sources have, without NUL bytes and of a sensible size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// One thread. Keeps what it read, up to a bound; files beyond that have no text.
class SourceText {
 public:
  // Files that changed after `until_ns` (since 1970) are not what was recorded. 0: any time will
  // do.
  explicit SourceText(std::int64_t until_ns) : until_ns_(until_ns) {}

  // Without white space at both ends, and cut where it is very long. Nothing where the file cannot
  // be read or has no such line. Not escaped: it may hold anything but NUL and line ends.
  std::optional<std::string> line(const std::string& path, std::int64_t number);
  [[nodiscard]] std::size_t changed() const { return changed_; }  // files that are newer

 private:
  // A file that was read, cut into lines.
  struct Source {
    std::string text;
    std::vector<std::string_view> lines;
  };
  const Source* find(const std::string& path);
  std::optional<std::string> read(const std::string& path);

  std::int64_t until_ns_;
  std::size_t changed_ = 0;
  std::size_t bytes_ = 0;
  std::map<std::string, Source> files_;
};

}  // namespace fathom
