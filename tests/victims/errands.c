/* SPDX-License-Identifier: MIT
 * Calls that name files by their paths, each so often: relative, absolute, below a descriptor,
 * after a change of directory, of files that there are not. usage: errands DIRECTORY (absolute) */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void must(int is_so, int line) {
  if (is_so) return;
  dprintf(2, "line %d\n", line);
  exit(1);
}
#define MUST(condition) must(condition, __LINE__)

int main(int count, char** words) {
  struct stat facts;
  char path[4096];
  MUST(count == 2);
  snprintf(path, sizeof path, "%s//house/./old", words[1]);
  MUST(mkdir("house", 0755) == 0 && mkdir("house/room", 0755) == 0);
  MUST(close(creat("house/old", 0644)) == 0);
  for (int i = 0; i < 2; i++) MUST(syscall(SYS_newfstatat, AT_FDCWD, path, &facts, 0) == 0);
  for (int i = 0; i < 3; i++) MUST(open("house/missing", O_RDONLY) == -1);
  const int house = open("house", O_RDONLY | O_DIRECTORY);
  MUST(house >= 0);
  for (int i = 0; i < 4; i++)
    MUST(syscall(SYS_newfstatat, house, "room/../old", &facts, AT_SYMLINK_NOFOLLOW) == 0);
  for (int i = 0; i < 5; i++) MUST(syscall(SYS_newfstatat, house, "", &facts, AT_EMPTY_PATH) == 0);
  MUST(chdir("house/room") == 0);
  for (int i = 0; i < 6; i++) MUST(syscall(SYS_faccessat, AT_FDCWD, "lost", R_OK) == -1);
  MUST(symlink("to nowhere", "link") == 0);
  MUST(rename("link", "../other") == 0 && unlink("../other") == 0);
  MUST(rmdir("../room") == 0);
  MUST(syscall(SYS_faccessat, AT_FDCWD, NULL, R_OK) == -1);
  return 0;
}
