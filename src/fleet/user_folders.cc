// SPDX-License-Identifier: MIT
// Follows the XDG Base Directory specification. There is no fallback beside HOME: a guessed place
// for tokens and unsent data would be worse than an error.
#include "fleet/user_folders.h"

#include <cstdlib>
#include <string_view>

#include "base/files.h"

namespace fathom::fleet {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

// A path that is not absolute is to be ignored, as the specification says.
Result<std::string> folder(const char* name, std::string_view below_home) {
  const std::string given = variable(name);
  if (given.starts_with('/')) return join_path(given, "fathom");
  const std::string home = variable("HOME");
  if (home.starts_with('/')) return join_path(join_path(home, below_home), "fathom");
  return Error{Code::kNotFound, "there is no home directory", std::string("set HOME or ") + name};
}

}  // namespace

Result<std::string> data_folder() { return folder("XDG_DATA_HOME", ".local/share"); }
Result<std::string> state_folder() { return folder("XDG_STATE_HOME", ".local/state"); }
Result<std::string> cache_folder() { return folder("XDG_CACHE_HOME", ".cache"); }

}  // namespace fathom::fleet
