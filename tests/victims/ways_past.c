// SPDX-License-Identifier: MIT
// ways_past BYTES PROGRAM ARGUMENTS…: allows so much address space and becomes the program, by
// calls that no library sees.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char** environ;

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const rlim_t bytes = (rlim_t)atoll(argv[1]);
  const struct rlimit limit = {bytes, bytes};
  if (syscall(SYS_prlimit64, 0, RLIMIT_AS, &limit, NULL) != 0) return 3;
  syscall(SYS_execve, argv[2], argv + 2, environ);
  return 4;
}
