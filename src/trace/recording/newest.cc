// SPDX-License-Identifier: MIT
// One small file, written by renaming: two runs that begin at once leave one path, never a mixture.
#include "trace/recording/newest.h"

#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "base/files.h"
#include "base/own_file.h"
#include "base/private_files.h"

namespace fathom::trace {
namespace {

constexpr char kFile[] = "newest-recording";

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets variables
  return value == nullptr ? "" : value;
}

// "" where this user has none. Relative paths are not to be used, says the specification.
std::string state_directory() {
  const std::string named = variable("XDG_STATE_HOME");
  if (named.starts_with('/')) return named;
  const std::string home = variable("HOME");
  return home.starts_with('/') ? join_path(home, ".local/state") : "";
}

// Whether the nearest directory that exists on the way to `path` is this user's: sudo keeps HOME,
// and a directory of root's would be in its owner's way later.
bool is_under_own_directory(std::string path) {
  struct stat facts {};
  while (::stat(path.c_str(), &facts) != 0) {
    if (path == "/" || path == ".") return false;
    path = dir_name(path);
  }
  return S_ISDIR(facts.st_mode) && facts.st_uid == ::geteuid();
}

Error nothing_yet() {
  return {Code::kNotFound, "nothing was recorded yet, so there is no 'last'",
          "fathom run -- COMMAND records a program"};
}

}  // namespace

void remember_newest(const std::string& directory) {
  const std::string state = state_directory();
  if (state.empty()) return;
  const std::string own = join_path(state, "fathom");
  if (!is_under_own_directory(own) || !make_dirs(state)) return;
  (void)make_private_dir(own).has_value();
  if (!is_private_directory(own)) return;
  (void)write_private_atomic(join_path(own, kFile), directory).has_value();
}

Result<std::string> newest_recording() {
  const std::string state = state_directory();
  if (state.empty()) return nothing_yet();
  const std::string file = join_path(join_path(state, "fathom"), kFile);
  if (!path_exists(file)) return nothing_yet();
  FATHOM_ASSIGN(const std::string path, read_private_file(file, PATH_MAX));
  if (path_exists(path)) return path;
  return Error{Code::kNotFound, "the newest recording is gone: " + path,
               "name another recording in place of 'last'"};
}

}  // namespace fathom::trace
