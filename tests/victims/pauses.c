// SPDX-License-Identifier: MIT
// pauses READS CODE: reads so many times, makes the file "ready" and waits for the file "go" by
// calls that no library sees; reads as often again where the file "more" is there; ends with CODE,
// unseen as well.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int there(const char* name) { return syscall(SYS_faccessat, AT_FDCWD, name, F_OK) == 0; }

static void read_often(int data, long times) {
  char buffer[8];
  for (long i = 0; i < times; i++) {
    if (pread(data, buffer, 4, 0) != 4) _exit(9);
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int data = open("data", O_RDWR | O_CREAT, 0600);
  if (pwrite(data, "twenty bytes of data", 20, 0) != 20) return 3;
  read_often(data, atol(argv[1]));
  syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, "ready", O_CREAT | O_WRONLY, 0600));
  const struct timespec pause = {0, 5000000};
  for (int i = 0; i < 6000 && !there("go"); i++) syscall(SYS_nanosleep, &pause, NULL);
  if (there("more")) read_often(data, atol(argv[1]));
  syscall(SYS_exit_group, atoi(argv[2]));
}
