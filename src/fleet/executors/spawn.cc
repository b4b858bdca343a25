// SPDX-License-Identifier: MIT
// Wraps posix_spawn. The child starts with no signal blocked or ignored, whatever the caller did
// with its own, and streams that were not given lead to /dev/null.
#include "fleet/executors/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <csignal>

#include "base/os_error.h"

extern char** environ;  // NOLINT(*-avoid-non-const-global-variables): libc's

namespace fathom::fleet {
namespace {

// posix_spawn and not fork: the caller may have threads and much memory.
class Attributes {
 public:
  explicit Attributes(bool own_session) {
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    if (own_session) flags |= POSIX_SPAWN_SETSID;
    posix_spawnattr_setflags(&attributes_, static_cast<short>(flags));
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }
  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

class Streams {
 public:
  Streams(int out, int err) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    put(out, STDOUT_FILENO);
    put(err, STDERR_FILENO);
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  ~Streams() { posix_spawn_file_actions_destroy(&actions_); }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  void put(int from, int to) {
    if (from < 0)
      posix_spawn_file_actions_addopen(&actions_, to, "/dev/null", O_WRONLY, 0);
    else
      posix_spawn_file_actions_adddup2(&actions_, from, to);
  }
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

Result<pid_t> spawn(const Spawn& wanted) {
  std::vector<char*> words;
  for (const std::string& word : wanted.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const Attributes attributes(wanted.own_session);
  const Streams streams(wanted.out, wanted.err);
  pid_t pid = 0;
  const int failed =
      posix_spawnp(&pid, words[0], streams.get(), attributes.get(), words.data(), environ);
  if (failed != 0) return os_error(failed, "run " + wanted.words[0]);
  return pid;
}

}  // namespace fathom::fleet
