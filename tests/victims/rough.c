// SPDX-License-Identifier: MIT
// rough MODE [NUMBER]: programs that take things away from themselves, and go on reading 13 bytes a
// time. Prints the number of reads to the file "told", opened with raw system calls, since stdout
// may be gone.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fathom/fathom.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int data;
static long reads;

static void look(int times) {
  char buffer[13];
  for (int i = 0; i < times; i++, reads++) {
    FATHOM_REGION("turn");
    if (pread(data, buffer, sizeof buffer, 0) != sizeof buffer) _exit(9);
  }
}

static void open_data(void) {
  data = open("data", O_RDWR | O_CREAT, 0600);
  if (data < 0 || pwrite(data, "twenty bytes of data", 20, 0) != 20) _exit(3);
}

static void limit(int what, rlim_t to) {
  const struct rlimit both = {to, to};
  if (setrlimit(what, &both) != 0) _exit(4);
}

static int open_descriptors(void) {
  int number = 0;
  DIR* directory = opendir("/proc/self/fd");
  while (readdir(directory)) number++;
  closedir(directory);
  return number;
}

static void high_descriptors(void) {
  struct rlimit most;
  getrlimit(RLIMIT_NOFILE, &most);
  most.rlim_cur = most.rlim_max;
  setrlimit(RLIMIT_NOFILE, &most);
  const struct rlimit million = {1048576, 1048576};  // root may
  if (most.rlim_cur < million.rlim_cur && setrlimit(RLIMIT_NOFILE, &million) == 0) most = million;
  const rlim_t numbers[] = {1023, 1024, 65535, 65536, 150000, 1048575};
  for (int i = 0; i < 6 && numbers[i] < most.rlim_cur; i++) {
    char name[32];
    snprintf(name, sizeof name, "high-%d", (int)numbers[i]);
    const int fd = open(name, O_RDWR | O_CREAT, 0600);
    const int number = (int)numbers[i];
    if (dup2(fd, number) != number || write(number, name, 5) != 5) _exit(5);
    if (lseek(number, 2, SEEK_SET) != 2 || read(number, name, 2) != 2) _exit(5);
    close(fd);
    close(number);
  }
}

static void many_files(int number) {
  for (int i = 0; i < number; i++) {
    char name[32], byte;
    snprintf(name, sizeof name, "many-%d", i);
    const int fd = open(name, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || write(fd, "x", 1) != 1 || pread(fd, &byte, 1, 0) != 1) _exit(5);
    close(fd);
    unlink(name);
  }
}

// One fd, several names: renamed and unlinked while open.
static void renamed(void) {
  const int fd = open("old", O_RDWR | O_CREAT, 0600);
  if (write(fd, "1", 1) != 1 || rename("old", "new") != 0 || write(fd, "2", 1) != 1) _exit(5);
  const int again = open("new", O_RDWR);
  if (write(again, "3", 1) != 1 || unlink("new") != 0 || write(again, "4", 1) != 1) _exit(5);
}

static void raw_calls(void) {
  DIR* volatile nothing = NULL;
  if (closedir(nothing) != -1 || errno != EINVAL) _exit(8);
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, "raw-a", O_RDWR | O_CREAT, 0600);
  if (write(fd, "aa", 2) != 2) _exit(5);
  syscall(SYS_close, fd);
  if ((int)syscall(SYS_openat, AT_FDCWD, "raw-b", O_RDWR | O_CREAT, 0600) != fd ||
      write(fd, "bbb", 3) != 3)
    _exit(5);
  const int other = (int)syscall(SYS_openat, AT_FDCWD, "raw-c", O_RDWR | O_CREAT, 0600);
  syscall(SYS_dup3, other, fd, 0);
  if (write(fd, "cccc", 4) != 4) _exit(5);
  syscall(SYS_close_range, fd, ~0u, 0);
  if ((int)syscall(SYS_openat, AT_FDCWD, "raw-d", O_RDWR | O_CREAT, 0600) != fd ||
      write(fd, "ddddd", 5) != 5)
    _exit(5);
}

static void interned(int number) {
  for (int i = 0; i < number; i++) {
    FATHOM_REGION("turn");
    FATHOM_ARG("text", "always the same");
    struct stat facts;
    stat("data", &facts);
  }
}

static void tell(void) {
  char line[64];
  const int length = snprintf(line, sizeof line, "%ld\n", reads);
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, "told", O_WRONLY | O_CREAT, 0600);
  if (fd >= 0) syscall(SYS_write, fd, line, length);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const char* mode = argv[1];
  const int number = argc > 2 ? atoi(argv[2]) : 0;
  open_data();
  const int before = open_descriptors();
  look(100);
  if (strcmp(mode, "closed") == 0)
    for (int fd = 0; fd < 3; fd++) close(fd);
  if (strcmp(mode, "range") == 0 && close_range(0, ~0u, 0) != 0) return 4;
  if (strcmp(mode, "from") == 0) closefrom(0);
  if (strcmp(mode, "range") == 0 || strcmp(mode, "from") == 0) open_data();
  if (strcmp(mode, "fsize") == 0) limit(RLIMIT_FSIZE, 4096);
  if (strcmp(mode, "nofile") == 0) limit(RLIMIT_NOFILE, 0);
  if (strcmp(mode, "as") == 0) limit(RLIMIT_AS, 1 << 20);
  if (strcmp(mode, "nproc") == 0) limit(RLIMIT_NPROC, 0);
  if (strcmp(mode, "chroot") == 0 &&
      (mkdir("jail", 0700) != 0 || chroot("jail") != 0 || chdir("/") != 0))
    return 4;
  if (strcmp(mode, "high") == 0) high_descriptors();
  if (strcmp(mode, "many") == 0) many_files(number);
  if (strcmp(mode, "renamed") == 0) renamed();
  if (strcmp(mode, "raw") == 0) raw_calls();
  if (strcmp(mode, "interned") == 0) interned(number);
  look(number > 0 ? number : 2000);
  if (strcmp(mode, "nothing") == 0 && open_descriptors() != before) return 6;
  if (strcmp(mode, "nofile") != 0) tell();
  return 0;
}
