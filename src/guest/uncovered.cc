// SPDX-License-Identifier: MIT
// One line for a process, written by one call that appends: processes need no lock, and no memory
// that such a process could lack. What is already long stays as it is.
#include "guest/uncovered.h"

#include "guest/own_files.h"
#include "guest/runtime.h"
#include "guest/scratch.h"
#include "wire/exec.h"

namespace fathom::guest {
namespace {

int open_list(const char* path) {
  const int made = create_own_file(path, O_WRONLY | O_APPEND);
  if (made >= 0) return made;
  return sys_openat(AT_FDCWD, path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0);
}

bool has_room(int fd) {
  const long size = raw_syscall(SYS_lseek, fd, 0, 2 /* SEEK_END */);
  return size >= 0 && size < FATHOM_UNCOVERED_MAX;
}

}  // namespace

void note_uncovered(unsigned flags) {
  const Scratch line;
  const Scratch path;
  if (line.text() == nullptr || path.text() == nullptr) return;
  Text text(line.text(), Scratch::kRoom);
  text.add_number(static_cast<uint64_t>(sys_getpid())).add(" ").add_number(flags).add(" ");
  const long length = sys_readlink("/proc/self/exe", path.text(), Scratch::kRoom - 1);
  for (long i = 0; i < length; i++) {
    const char* const at = path.text() + i;
    text.add(*at == '\n' ? "?" : at, 1);
  }
  text.add("\n");
  Text(path.text(), Scratch::kRoom).add(guest.out).add("/" FATHOM_UNCOVERED_FILE);
  const int fd = open_list(path.text());
  if (fd < 0) return;
  if (has_room(fd)) sys_write(fd, line.text(), text.length());
  sys_close(fd);
}

}  // namespace fathom::guest
