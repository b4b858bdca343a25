// SPDX-License-Identifier: MIT
// Programs that layer cpu is measured on. They print the CPU time of the process in seconds, which
// holds what the kernel did in their name: interrupts and samples too.
//
// busy compute TURNS: a call stack of 20 functions, the innermost of which computes.
// busy switch TURNS: two threads that wake each other, two switches a turn.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double process_cpu(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static volatile long sink;

static __attribute__((noinline)) void descend(int depth, long turns) {
  if (depth > 0) {
    descend(depth - 1, turns);
  } else {
    for (long i = 0; i < turns; i++) sink += i ^ (sink >> 3);
  }
  __asm__ volatile("" ::: "memory"); /* no tail call */
}

static int there[2], back[2];

static void* answers(void* turns) {
  char byte;
  for (long i = 0; i < *(long*)turns; i++) {
    if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1) exit(3);
  }
  return NULL;
}

static void switches(long turns) {
  pthread_t thread;
  char byte = 0;
  if (pipe(there) != 0 || pipe(back) != 0) exit(3);
  pthread_create(&thread, NULL, answers, &turns);
  for (long i = 0; i < turns; i++) {
    if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) exit(3);
  }
  pthread_join(thread, NULL);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const long turns = atol(argv[2]);
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  const double before = process_cpu();
  if (strcmp(argv[1], "compute") == 0) descend(20, turns);
  if (strcmp(argv[1], "switch") == 0) switches(turns);
  clock_gettime(CLOCK_MONOTONIC, &end);
  const double wall =
      (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
  printf("%.6f %.6f\n", process_cpu() - before, wall);
  return 0;
}
