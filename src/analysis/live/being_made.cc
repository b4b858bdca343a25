// SPDX-License-Identifier: MIT
// Finds the recordings in a directory that somebody writes to: they have a spool, and its writers
// live. `fathom top` without a name takes the newest one.
#include "analysis/live/being_made.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/directory.h"
#include "trace/spool/in_use.h"
#include "trace/spool/spool.h"

namespace fathom::analysis {
namespace {

// When it began, ns since 1970; 0 where nobody writes there.
std::uint64_t begin_of(const std::string& recording) {
  const Result<Directory> files =
      Directory::open_beneath(join_path(recording, trace::kSpoolDirectory));
  if (!files) return 0;
  const Result<trace::Spool> spool = trace::Spool::open(*files);
  if (!spool || trace::writers_of(recording).empty()) return 0;
  return std::max<std::uint64_t>(1, spool->header().start_realtime_ns);
}

}  // namespace

std::string writers_of(const std::string& recording) { return trace::writers_of(recording); }

std::vector<std::string> recordings_being_made(const std::string& directory) {
  std::vector<std::pair<std::uint64_t, std::string>> found;
  const auto add = [&](const std::string& path) {
    if (const std::uint64_t begin = begin_of(path); begin != 0) found.emplace_back(begin, path);
  };
  add(directory);
  const Result<Directory> opened = Directory::open(directory);
  const Result<std::vector<std::string>> names =
      opened ? opened->names() : Result<std::vector<std::string>>(opened.error());
  if (names) {
    for (const std::string& name : *names) {
      if (opened->has_directory(name)) add(directory == "." ? name : join_path(directory, name));
    }
  }
  std::ranges::sort(found, std::greater());
  std::vector<std::string> paths;
  for (auto& [begin, path] : found) paths.push_back(std::move(path));
  return paths;
}

}  // namespace fathom::analysis
