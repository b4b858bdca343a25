/* SPDX-License-Identifier: MIT
 * Calls the kernel as often as it says, without libc's wrappers: in threads, in children, on a
 * file, in vain. usage: kernel THREADS CHILDREN CALLS */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kSize = 100, kFailures = 3 };

static int calls;

static void* work(void* unused) {
  char room[kSize];
  const int fd = open("data", O_RDONLY);
  for (int i = 0; i < calls; i++) {
    syscall(SYS_getppid);
    syscall(SYS_pread64, fd, room, (size_t)kSize, (off_t)0);
  }
  for (int i = 0; i < kFailures; i++) syscall(SYS_pread64, -1, room, (size_t)kSize, (off_t)0);
  close(fd);
  return unused;
}

int main(int count, char** words) {
  if (count != 4) return 2;
  const int threads = atoi(words[1]), children = atoi(words[2]);
  calls = atoi(words[3]);
  for (int i = 0; i < children; i++) {
    const pid_t child = fork();
    if (child == 0) {
      work(NULL);
      _exit(40 + i);
    }
  }
  pthread_t made[64];
  for (int i = 0; i < threads; i++) pthread_create(&made[i], NULL, work, NULL);
  for (int i = 0; i < threads; i++) pthread_join(made[i], NULL);
  for (int i = 0; i < children; i++) wait(NULL);
  printf("workers %d\n", threads + children);
  return 0;
}
