// SPDX-License-Identifier: MIT
// The half of files.h that deals with names and trees.
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/files.h"
#include "base/os_error.h"

namespace fathom {

namespace fs = std::filesystem;

Result<std::vector<std::string>> list_dir(const std::string& path) {
  std::error_code failure;
  std::vector<std::string> names;
  fs::directory_iterator entry(path, failure);
  while (!failure && entry != fs::directory_iterator()) {
    names.push_back(entry->path().filename().string());
    entry.increment(failure);
  }
  if (failure) return os_error(failure.value(), "list " + path);
  std::sort(names.begin(), names.end());
  return names;
}

Status make_dirs(const std::string& path) {
  std::error_code failure;
  fs::create_directories(path, failure);
  if (failure) return os_error(failure.value(), "make directory " + path);
  // An existing file that is no directory is reported in some versions of the library only.
  if (!is_directory(path)) return os_error(ENOTDIR, "make directory " + path);
  return {};
}

Status remove_tree(const std::string& path) {
  std::error_code failure;
  fs::remove_all(path, failure);
  if (failure) return os_error(failure.value(), "remove " + path);
  return {};
}

bool path_exists(const std::string& path) {
  std::error_code failure;
  return fs::exists(path, failure);
}

bool is_directory(const std::string& path) {
  std::error_code failure;
  return fs::is_directory(path, failure);
}

Result<std::string> real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr),
                                                             &std::free);
  if (resolved == nullptr) return os_error(errno, "resolve " + path);
  return std::string(resolved.get());
}

Result<std::string> absolute_path(const std::string& path) {
  std::error_code failure;
  const fs::path absolute = fs::absolute(path.empty() ? "." : path, failure);
  if (failure) return os_error(failure.value(), "resolve " + path);
  std::string text = absolute.lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

std::string join_path(std::string_view directory, std::string_view name) {
  if (directory.empty() || name.starts_with('/')) return std::string(name);
  std::string path(directory);
  if (!path.ends_with('/')) path += '/';
  return path.append(name);
}

std::string_view base_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos || path.size() == 1 ? path : path.substr(slash + 1);
}

std::string_view dir_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<std::uint64_t> free_space(const std::string& path) {
  struct statvfs status {};
  if (::statvfs(path.c_str(), &status) != 0) return os_error(errno, "ask free space of " + path);
  return std::uint64_t{status.f_bavail} * status.f_frsize;
}

}  // namespace fathom
