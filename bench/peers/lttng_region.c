// SPDX-License-Identifier: MIT
// lttng_region TURNS THREADS: the region of cost.c with two LTTng tracepoints in place of ours.
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_region.h"

#include "../cost.h"

__attribute__((noinline)) static void region(void) {
  lttng_ust_tracepoint(fathom_bench, begin, 1);
  __asm__ volatile("");
  lttng_ust_tracepoint(fathom_bench, end, 1);
}

static void region_loop(long turns, void* unused) {
  (void)unused;
  for (long i = 0; i < turns; i++) region();
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  measure(region_loop, NULL, atol(argv[1]), atoi(argv[2]));
  return 0;
}
