// SPDX-License-Identifier: MIT
// Normalises by text alone. Asking the file system would follow links of today, not those of the
// time at which the program used the path.
#include "trace/rows/paths.h"

#include <algorithm>

#include "base/utf8.h"

namespace fathom::trace {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

void append_components(std::string& path, std::string_view text) {
  while (!text.empty()) {
    const std::size_t slash = text.find('/');
    const std::string_view part = text.substr(0, slash);
    text.remove_prefix(slash == std::string_view::npos ? text.size() : slash + 1);
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      path.resize(path.empty() ? 0 : path.rfind('/'));
    } else {
      path.append("/").append(part);
    }
  }
}

}  // namespace

std::string normalise_path(std::string_view base, std::string_view text) {
  if (text.ends_with(kDeleted) && text.starts_with('/')) text.remove_suffix(kDeleted.size());
  if (!text.starts_with('/') && !base.starts_with('/')) return "";
  std::string path;
  path.reserve(base.size() + text.size() + 1);
  if (!text.starts_with('/')) append_components(path, base);
  append_components(path, text);
  if (path.empty()) return "/";
  return is_valid_utf8(path) ? path : escape_invalid_utf8(path);
}

PathFilter::PathFilter(const std::vector<std::string>& prefixes) {
  for (const std::string& prefix : prefixes) {
    std::string path = normalise_path("", prefix);
    if (!path.empty()) prefixes_.push_back(std::move(path));
  }
}

bool PathFilter::keeps(std::string_view path) const {
  if (prefixes_.empty()) return true;
  return std::any_of(prefixes_.begin(), prefixes_.end(), [path](const std::string& prefix) {
    if (prefix == "/") return true;
    return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
  });
}

}  // namespace fathom::trace
