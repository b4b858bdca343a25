// SPDX-License-Identifier: MIT
// names: files and texts whose bytes nobody expects, and a path as long as paths can be. Each file
// gets one write of 5 bytes.
#define _GNU_SOURCE
#include <errno.h>
#include <fathom/fathom.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char* const kNames[] = {"with \"quotes\" and 'more'",
                                     "two\nlines\tand\ra tab",
                                     "gr\xc3\xbc\xc3\x9f \xe6\x97\xa5\xe6\x9c\xac",
                                     "not\xff\xfeUTF-8",
                                     "back\\slash",
                                     "-rf",
                                     " spaces ",
                                     "percent%s%n",
                                     "\xc3",
                                     "a,b;c"};

static void touch(const char* path) {
  FATHOM_REGION("touch");
  FATHOM_ARG("name", path);
  const int fd = open(path, O_RDWR | O_CREAT, 0600);
  if (fd < 0 || write(fd, "12345", 5) != 5 || close(fd) != 0) _exit(3);
}

int main(void) {
  for (unsigned i = 0; i < sizeof kNames / sizeof *kNames; i++) touch(kNames[i]);
  // 4095 bytes: a name of one letter below "./././…"
  char path[4097];
  for (int i = 0; i < 4094; i += 2) memcpy(path + i, "./", 2);
  strcpy(path + 4094, "z");
  touch(path);
  // One more is too long, and says so.
  for (int i = 0; i < 4096; i += 2) memcpy(path + i, "./", 2);
  path[4096] = 0;
  errno = 0;
  if (open(path, O_RDONLY) != -1 || errno != ENAMETOOLONG) return 4;
  // Bad pointers are the kernel's to refuse.
  errno = 0;
  if (open((const char*)1, O_RDONLY) != -1 || errno != EFAULT) return 5;
  struct stat facts;
  if (stat((const char*)-4096, &facts) != -1 || errno != EFAULT) return 6;
  return 0;
}
