// SPDX-License-Identifier: MIT
// Files and directories of ours: for their owner alone, and usable by him, whatever the umask.
#pragma once

#include "guest/syscalls.h"
#include "guest/text.h"

namespace fathom::guest {

// A descriptor, or a negative errno. Nothing that exists is opened.
inline int create_own_file(const char* path, int flags) {
  const int fd = sys_openat(AT_FDCWD, path, O_CREAT | O_EXCL | flags, 0600);
  if (fd >= 0) raw_syscall(SYS_fchmod, fd, 0600);
  return fd;
}

// A directory that the umask has shut cannot be opened to change it, but named.
inline bool make_own_directory(const char* path) {
  if (raw_syscall(SYS_mkdirat, AT_FDCWD, as_long(path), 0700) != 0) return false;
  const int fd = sys_openat(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
  if (fd < 0) return true;
  char link[40];
  Text(link, sizeof link).add("/proc/self/fd/").add_number(static_cast<uint64_t>(fd));
  raw_syscall(SYS_fchmodat, AT_FDCWD, as_long(link), 0700);
  sys_close(fd);
  return true;
}

}  // namespace fathom::guest
