// SPDX-License-Identifier: MIT
// What the cost programs share: thread CPU time of a loop, on one or several threads at once, as
// "ns per turn" on stdout.
//
// Thread CPU time, because the machines are shared: wall time moves by factors, CPU time by
// percents.
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double thread_cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline uint64_t read_ticks(void) {
#if defined(__x86_64__)
  uint32_t low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return ((uint64_t)high << 32) | low;
#else
  uint64_t value;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#endif
}

static inline double ticks_per_second(void) {
  struct timespec one, two;
  clock_gettime(CLOCK_MONOTONIC, &one);
  const uint64_t before = read_ticks();
  do clock_gettime(CLOCK_MONOTONIC, &two);
  while ((two.tv_sec - one.tv_sec) * 1000 + (two.tv_nsec - one.tv_nsec) / 1000000 < 50);
  const double seconds =
      (double)(two.tv_sec - one.tv_sec) + (double)(two.tv_nsec - one.tv_nsec) / 1e9;
  return (double)(read_ticks() - before) / seconds;
}

struct work {
  void (*loop)(long turns, void* own);
  void* (*prepare)(void);
  long turns;
  double ns;
  pthread_barrier_t* start;
};

static inline void* measure_thread(void* argument) {
  struct work* work = (struct work*)argument;
  void* own = work->prepare ? work->prepare() : NULL;
  work->loop(work->turns / 20 + 1, own); /* warm: pages, caches, first-use slow paths */
  pthread_barrier_wait(work->start);
  const double before = thread_cpu_ns();
  work->loop(work->turns, own);
  work->ns = (thread_cpu_ns() - before) / (double)work->turns;
  return NULL;
}

/* Prints the mean over the threads of ns per turn. */
static inline void measure(void (*loop)(long, void*), void* (*prepare)(void), long turns,
                           int threads) {
  pthread_t ids[64];
  struct work works[64];
  pthread_barrier_t start;
  double sum = 0;
  if (threads < 1 || threads > 64) exit(2);
  pthread_barrier_init(&start, NULL, (unsigned)threads);
  for (int i = 0; i < threads; i++) {
    works[i] = (struct work){loop, prepare, turns, 0, &start};
    if (pthread_create(&ids[i], NULL, measure_thread, &works[i]) != 0) exit(3);
  }
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  for (int i = 0; i < threads; i++) sum += works[i].ns;
  printf("%.3f\n", sum / threads);
}
