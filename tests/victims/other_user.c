/* SPDX-License-Identifier: MIT
 * other_user UID NUMBER THREADS: reads NUMBER times, becomes another user (0: stays who it is), and
 * reads NUMBER times in each of THREADS threads that all live at once, in a forked child, and as
 * the program that the child becomes. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MUST(condition)                                                               \
  do {                                                                                \
    if (!(condition)) {                                                               \
      dprintf(2, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, strerror(errno)); \
      _exit(99);                                                                      \
    }                                                                                 \
  } while (0)

static int data;
static long number;
static pthread_barrier_t all_here;

static void reads(void) {
  char buffer[13];
  for (long i = 0; i < number; i++) MUST(pread(data, buffer, sizeof buffer, 0) == sizeof buffer);
}
static void* thread(void* unused) {
  reads();
  pthread_barrier_wait(&all_here);
  return unused;
}
static void in_threads(int count) {
  pthread_t threads[1000];
  MUST(count <= 1000);
  if (count == 0) return;
  MUST(pthread_barrier_init(&all_here, NULL, (unsigned)count) == 0);
  for (int i = 0; i < count; i++) MUST(pthread_create(&threads[i], NULL, thread, NULL) == 0);
  for (int i = 0; i < count; i++) MUST(pthread_join(threads[i], NULL) == 0);
}

int main(int argc, char** argv) {
  MUST(argc >= 3);
  number = atol(argv[2]);
  data = open("sounding", O_RDONLY);
  MUST(data >= 0);
  reads();
  if (!strcmp(argv[1], "only-reads")) return 0;
  const unsigned user = (unsigned)atol(argv[1]);
  if (user != 0) MUST(setgroups(0, NULL) == 0 && setgid(user) == 0 && setuid(user) == 0);
  in_threads(argc > 3 ? atoi(argv[3]) : 0);
  const pid_t child = fork();
  if (child == 0) {
    reads();
    execl(argv[0], argv[0], "only-reads", argv[2], NULL);
    _exit(97);
  }
  int status = 0;
  MUST(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  return 0;
}
