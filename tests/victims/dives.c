// SPDX-License-Identifier: MIT
// dives DEPTH: calls itself that often, and computes for 300 ms at the bottom.
#include <stdlib.h>
#include <time.h>

static volatile double kept;

static long thread_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

__attribute__((noinline)) static void bottom(void) {
  const long end = thread_ns() + 300000000;
  while (thread_ns() < end)
    for (int i = 0; i < 100000; i++) kept = kept * 0.999 + i;
}

__attribute__((noinline)) static int dive(int depth) {
  if (depth == 0) {
    bottom();
    return 0;
  }
  return dive(depth - 1) + 1;
}

int main(int argc, char** argv) {
  return argc == 2 && dive(atoi(argv[1])) == atoi(argv[1]) ? 0 : 1;
}
