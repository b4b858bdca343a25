// SPDX-License-Identifier: MIT
// ways_in WAY PROGRAM [FOLDER]: becomes a program, or starts it and ends with its status, by one of
// the ways that libc has; PROGRAM is a plain name where the way searches PATH. Way "chroot" becomes
// it in another root.
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static int status_of(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static char** copied(char** variables) {
  size_t count = 0;
  while (variables[count]) count++;
  char** copy = malloc((count + 1) * sizeof *copy);
  return memcpy(copy, variables, (count + 1) * sizeof *copy);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char *way = argv[1], *program = argv[2];
  char* arguments[] = {argv[2], NULL};
  pid_t child = 0;
  if (strcmp(way, "execve") == 0) execve(program, arguments, copied(environ));
  if (strcmp(way, "execv") == 0) execv(program, arguments);
  if (strcmp(way, "execvp") == 0) execvp(program, arguments);
  if (strcmp(way, "execvpe") == 0) execvpe(program, arguments, copied(environ));
  if (strcmp(way, "execl") == 0) execl(program, program, NULL);
  if (strcmp(way, "execlp") == 0) execlp(program, program, NULL);
  if (strcmp(way, "execle") == 0) execle(program, program, NULL, copied(environ));
  if (strcmp(way, "fexecve") == 0) fexecve(open(program, O_PATH), arguments, environ);
#if __GLIBC_PREREQ(2, 34)
  if (strcmp(way, "execveat") == 0)
    execveat(open(argv[3], O_PATH | O_DIRECTORY), program, arguments, environ, 0);
#endif
  if (strcmp(way, "spawn") == 0 &&
      posix_spawn(&child, program, NULL, NULL, arguments, copied(environ)) == 0)
    return status_of(child);
  if (strcmp(way, "spawnp") == 0 &&
      posix_spawnp(&child, program, NULL, NULL, arguments, environ) == 0)
    return status_of(child);
  if (strcmp(way, "vfork") == 0) {
    for (int turn = 0; turn < 20; turn++) {
      child = vfork();
      if (child == 0) {
        execve(program, arguments, environ);
        _exit(98);
      }
      if (turn < 19) status_of(child);
    }
    return status_of(child);
  }
  if (strcmp(way, "chroot") == 0 && chroot(argv[3]) == 0 && chdir("/") == 0)
    execv(program, arguments);
  perror(way);
  return 97;
}
