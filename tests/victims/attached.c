/* SPDX-License-Identifier: MIT
 * attached ORDERS: a process that runs for long. From the start a thread computes (churn), one
 * sleeps in poll (idle), and the main thread reads the FIFO. Obeys its lines, and answers each with
 * one line: the number of the thread or process that came of it.
 *   thread       another thread computes (late)
 *   fork         a child computes (child), as long as this process lives
 *   sleepers N   threads that sleep in poll
 *   exec         it becomes itself again, with the same orders */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COMPUTES(name)                                     \
  __attribute__((noinline)) static double name(double x) { \
    for (int i = 0; i < 100000; i++) x = x * 0.999 + i;    \
    return x;                                              \
  }
COMPUTES(churn)
COMPUTES(late)
COMPUTES(child)

static volatile double kept;
static pthread_barrier_t told;
static volatile long number;

static void tell_number(const char* name) {
  pthread_setname_np(pthread_self(), name);
  number = syscall(SYS_gettid);
  pthread_barrier_wait(&told);
}

static void* compute(void* name) {
  tell_number(name);
  double (*work)(double) = strcmp(name, "churn") == 0 ? churn : late;
  for (;;) kept = work(kept);
  return NULL;
}

static void* sleep_on(void* name) {
  tell_number(name);
  for (;;) poll(NULL, 0, -1);
  return NULL;
}

static long make(void* (*body)(void*), const char* name) {
  pthread_t thread;
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 << 10);
  if (pthread_create(&thread, &small, body, (void*)name) != 0) exit(99);
  pthread_barrier_wait(&told);
  return number;
}

static long make_child(void) {
  const pid_t made = fork();
  if (made != 0) return made;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) kept = child(kept);
}

int main(int argc, char** argv) {
  char line[64];
  if (argc != 2) return 99;
  setvbuf(stdout, NULL, _IOLBF, 0);
  pthread_barrier_init(&told, NULL, 2);
  const long busy = make(compute, "churn");
  const long idle = make(sleep_on, "idle");
  printf("%d %ld %ld\n", getpid(), busy, idle);
  FILE* orders = fopen(argv[1], "r");
  while (orders && fgets(line, sizeof line, orders)) {
    long made = 0;
    if (strncmp(line, "thread", 6) == 0) made = make(compute, "late");
    if (strncmp(line, "fork", 4) == 0) made = make_child();
    if (strncmp(line, "sleepers", 8) == 0)
      for (long left = atol(line + 8); left > 0; left--) made = make(sleep_on, "idle");
    if (strncmp(line, "exec", 4) == 0) execv("/proc/self/exe", argv);
    printf("%ld\n", made);
  }
  return 0;
}
