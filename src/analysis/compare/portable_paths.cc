// SPDX-License-Identifier: MIT
// Strips the common checkout directory from paths, so that the same file in two working directories
// is one line of the comparison.
#include "analysis/compare/portable_paths.h"

#include <algorithm>

#include "base/files.h"

namespace fathom::analysis {
namespace {

bool is_below(const std::string& path, const std::string& root) {
  return root.size() > 1 && path.size() > root.size() && path.starts_with(root) &&
         path[root.size()] == '/';
}

bool all_end_alike(const std::vector<std::string>& roots) {
  return std::ranges::all_of(roots, [&](const std::string& root) {
    return root.size() > 1 && dir_name(root) != "." && base_name(root) == base_name(roots[0]);
  });
}

}  // namespace

std::string common_directory(const std::string& a, const std::string& b) {
  std::string common = a;
  while (!common.empty() && common != b && !b.starts_with(common + "/")) {
    const std::size_t slash = common.rfind('/');
    common.erase(slash == std::string::npos ? 0 : slash);
  }
  return common;
}

std::vector<std::string> roots_of(std::span<const std::string> directories) {
  std::vector<std::string> roots(directories.begin(), directories.end());
  const bool same = std::ranges::all_of(roots, [&](const auto& root) { return root == roots[0]; });
  while (!same && all_end_alike(roots)) {
    for (std::string& root : roots) root = std::string(dir_name(root));
  }
  return roots;
}

std::string portable_path(const std::string& path, const std::string& root,
                          const std::string& recording) {
  // The recording may lie in the working directory, and then says more.
  if (is_below(path, recording)) return "<recording>" + path.substr(recording.size());
  if (is_below(path, root)) return "." + path.substr(root.size());
  return path;
}

}  // namespace fathom::analysis
