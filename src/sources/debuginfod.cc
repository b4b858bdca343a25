// SPDX-License-Identifier: MIT
// Runs debuginfod-find as a process without output and waits for it. A failure is no error: the
// symbols are just not in the cache.
#include "sources/debuginfod.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "base/files.h"

namespace fathom::sources {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::string debuginfod_cache() {
  std::string cache = variable("DEBUGINFOD_CACHE_PATH");
  if (cache.empty() && !variable("XDG_CACHE_HOME").empty())
    cache = join_path(variable("XDG_CACHE_HOME"), "debuginfod_client");
  if (cache.empty() && !variable("HOME").empty())
    cache = join_path(variable("HOME"), ".cache/debuginfod_client");
  return is_directory(cache) ? cache : "";
}

void fetch_debuginfo(const std::string& build_id) {
  if (variable("DEBUGINFOD_URLS").empty() || !is_hex(build_id)) return;
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_WRONLY, 0);
  std::string words[] = {"debuginfod-find", "debuginfo", build_id};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t child = 0;
  const int failure = ::posix_spawnp(&child, arguments[0], &files, nullptr, arguments, ::environ);
  posix_spawn_file_actions_destroy(&files);
  if (failure != 0) return;
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace fathom::sources
