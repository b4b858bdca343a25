// SPDX-License-Identifier: MIT
// Reads the files of .git itself (HEAD, references, packed ones, worktrees) and runs no git.
#include "fleet/revision.h"

#include <cstdlib>
#include <string_view>

#include "base/files.h"
#include "base/text.h"

namespace fathom::fleet {
namespace {

std::string content(const std::string& path) {
  const Result<std::string> text = read_file(path);
  return text ? std::string(trim(*text)) : "";
}

bool is_commit(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string in_packed_refs(const std::string& folder, std::string_view name) {
  const std::string text = content(join_path(folder, "packed-refs"));
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t blank = line.find(' ');
    if (blank != std::string_view::npos && line.substr(blank + 1) == name)
      return std::string(line.substr(0, blank));
  }
  return "";
}

// Of a worktree, the folder of the repository that it belongs to.
std::string common_folder(const std::string& folder) {
  const std::string common = content(join_path(folder, "commondir"));
  if (common.empty()) return folder;
  return common.starts_with('/') ? common : join_path(folder, common);
}

std::string head_of(const std::string& folder) {
  constexpr std::string_view kRef = "ref: ";
  std::string head = content(join_path(folder, "HEAD"));
  if (!head.starts_with(kRef)) return head;
  const std::string name = head.substr(kRef.size());
  const std::string common = common_folder(folder);
  for (const std::string& place : {folder, common}) {
    std::string commit = content(join_path(place, name));
    if (is_commit(commit)) return commit;
  }
  return in_packed_refs(common, name);
}

// The folder that `.git` is, or names.
std::string git_folder(const std::string& directory) {
  constexpr std::string_view kElsewhere = "gitdir: ";
  std::string path = join_path(directory, ".git");
  if (is_directory(path)) return path;
  const std::string text = content(path);
  if (!text.starts_with(kElsewhere)) return "";
  const std::string folder = text.substr(kElsewhere.size());
  return folder.starts_with('/') ? folder : join_path(directory, folder);
}

}  // namespace

std::string git_commit(const std::string& directory) {
  const Result<std::string> start = absolute_path(directory);
  std::string place = start ? *start : "/";
  while (true) {
    const std::string folder = git_folder(place);
    const std::string commit = folder.empty() ? "" : head_of(folder);
    if (!folder.empty()) return is_commit(commit) ? commit : "";
    if (place == "/" || place == ".") return "";
    place = dir_name(place);
  }
}

std::string revision_here(const std::string& given) {
  if (!given.empty()) return given;
  const char* const named = std::getenv("FATHOM_REVISION");  // NOLINT(concurrency-mt-unsafe)
  return named != nullptr ? named : git_commit(".");
}

}  // namespace fathom::fleet
