// SPDX-License-Identifier: MIT
// sampled: three functions that compute for known times, in two threads, and naps of 20 ms between.
// Tells of each PID, TID, its name and the CPU time that the thread's own clock says it took (ns).
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long thread_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

// The clock is asked now and then, by the caller: a function that computes shows as itself.
#define COMPUTES(name)                                     \
  __attribute__((noinline)) static double name(double x) { \
    for (int i = 0; i < 100000; i++) x = x * 0.999 + i;    \
    return x;                                              \
  }
COMPUTES(heavy)
COMPUTES(light)
COMPUTES(other)

static volatile double kept;

static void spend(const char* name, double (*work)(double), long ns) {
  const long begin = thread_ns();
  long now = begin;
  while (now - begin < ns) {
    kept = work(kept);
    now = thread_ns();
  }
  printf("%d %ld %s %ld\n", getpid(), syscall(SYS_gettid), name, now - begin);
}

static void nap(void) {
  const struct timespec time = {0, 20000000};
  nanosleep(&time, NULL);
}

#ifndef LIGHT_MS
#define LIGHT_MS 100
#endif

static void* beside(void* unused) {
  spend("other", other, 200000000);
  nap();
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, beside, NULL);
  spend("heavy", heavy, 300000000);
  nap();
  spend("light", light, LIGHT_MS * 1000000L);
  nap();
  pthread_join(thread, NULL);
  return 0;
}
