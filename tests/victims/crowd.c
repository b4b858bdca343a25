/* SPDX-License-Identifier: MIT
 * A family of short lives. usage:
 *   crowd family THREADS CHILDREN CALLS  threads and children that call, children that begin anew
 *   crowd brief COUNT                    COUNT children, a burst at a time, one call each; every
 *                                        second one becomes another program first
 *   crowd leaf CALLS STATUS              what they become
 *   crowd wait FILE                      until it is there */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kBurst = 32, kStatuses = 100 };

static int calls;
static char* self;

static void* work(void* unused) {
  char room[64];
  const int fd = open("data", O_RDONLY);
  for (int i = 0; i < calls; i++) {
    syscall(SYS_getppid);
    syscall(SYS_pread64, fd, room, sizeof room, (off_t)0);
  }
  close(fd);
  return unused;
}

static void become_leaf(const char* how_many, int status) {
  char text[16];
  snprintf(text, sizeof text, "%d", status);
  execl(self, "leaf", "leaf", how_many, text, NULL);
  _exit(127);
}

static int family(char** words) {
  const int threads = atoi(words[2]), children = atoi(words[3]);
  calls = atoi(words[4]);
  pthread_t made[64];
  for (int i = 0; i < threads; i++) pthread_create(&made[i], NULL, work, NULL);
  for (int i = 0; i < children; i++) {
    if (fork() != 0) continue;
    work(NULL);
    become_leaf(words[4], i);
  }
  for (int i = 0; i < threads; i++) pthread_join(made[i], NULL);
  for (int i = 0; i < children; i++) wait(NULL);
  return 0;
}

static int brief(int count) {
  for (int made = 0; made < count;) {
    int burst = 0;
    for (; burst < kBurst && made < count; burst++, made++) {
      if (fork() != 0) continue;
      if (made % 2) become_leaf("1", made % kStatuses);
      syscall(SYS_getppid);
      _exit(made % kStatuses);
    }
    for (; burst > 0; burst--) wait(NULL);
  }
  return 0;
}

int main(int count, char** words) {
  self = "/proc/self/exe";
  if (count == 5 && strcmp(words[1], "family") == 0) return family(words);
  if (count == 3 && strcmp(words[1], "brief") == 0) return brief(atoi(words[2]));
  while (count == 3 && strcmp(words[1], "wait") == 0) {
    if (access(words[2], F_OK) == 0) return 0;
    usleep(10000);
  }
  if (count != 4) return 2;
  for (int i = 0; i < atoi(words[2]); i++) syscall(SYS_getppid);
  return atoi(words[3]);
}
