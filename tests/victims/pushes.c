// SPDX-License-Identifier: MIT
// Tells a counter that grows by one all 10 ms for so many seconds, one with an odd name, and one of
// each of so many names that are made up: pushes SECONDS [NAMES]
#include <fathom/fathom.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void tell_names(int count) {
  struct fathom_site* sites = calloc((size_t)count, sizeof *sites);
  for (int i = 0; sites && i < count; i++) {
    char* name = malloc(24);
    snprintf(name, 24, "made up %d", i);
    sites[i].name = name;
    fathom_count_int(&sites[i], i);
  }
}

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? atoi(argv[1]) : 1;
  for (int step = 0; step < 100 * seconds; step++) {
    FATHOM_COUNTER("progress", step);
    FATHOM_COUNTER("a \"b\"\n{c=\"d\"} 7", 0.5);
    if (step == 0 && argc > 2) tell_names(atoi(argv[2]));
    usleep(10000);
  }
  return 0;
}
