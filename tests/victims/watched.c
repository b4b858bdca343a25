/* SPDX-License-Identifier: MIT
 * watched ORDERS: obeys the lines of the FIFO, and answers each with one line.
 *   work N      main and a thread that was there before ask for their parent N times each
 *   fork N      a child does, alone
 *   connect, disconnect    calls the library: what it returned, whether errno and descriptors
 * stayed */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fathom/fathom.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t begin, end;
static long times;

static void ask(long count) {
  for (long i = 0; i < count; i++) syscall(SYS_getppid);
}

static void* older(void* unused) {
  for (;;) {
    pthread_barrier_wait(&begin);
    ask(times);
    pthread_barrier_wait(&end);
  }
  return unused;
}

static int descriptors(void) {
  int count = 0;
  DIR* directory = opendir("/proc/self/fd");
  while (directory && readdir(directory)) count++;
  if (directory) closedir(directory);
  return count;
}

static void call(int (*function)(void)) {
  const int before = descriptors();
  errno = ERANGE;
  const int result = function ? function() : -2;
  const int error = errno;
  printf("%d %d %d\n", result, error == ERANGE, descriptors() - before);
}

int main(int argc, char** argv) {
  pthread_t thread;
  char line[64];
  if (argc != 2) return 99;
  pthread_barrier_init(&begin, NULL, 2);
  pthread_barrier_init(&end, NULL, 2);
  if (pthread_create(&thread, NULL, older, NULL) != 0) return 99;
  setvbuf(stdout, NULL, _IOLBF, 0);
  printf("pid %d\n", getpid());
  FILE* orders = fopen(argv[1], "r");
  while (orders && fgets(line, sizeof line, orders)) {
    if (strncmp(line, "work ", 5) == 0) {
      times = atol(line + 5);
      pthread_barrier_wait(&begin);
      ask(times);
      pthread_barrier_wait(&end);
      printf("done\n");
    } else if (strncmp(line, "fork ", 5) == 0) {
      const pid_t child = fork();
      if (child == 0) {
        ask(atol(line + 5));
        _exit(0);
      }
      waitpid(child, NULL, 0);
      printf("done\n");
    } else if (strcmp(line, "connect\n") == 0) {
      call(fathom_connect);
    } else if (strcmp(line, "disconnect\n") == 0) {
      call(fathom_disconnect);
    }
  }
  return 0;
}
