// SPDX-License-Identifier: MIT
// chases far|near: reads memory for two seconds of CPU time, each place told by the one before it:
// all over a large memory, or in a few lines that stay in the cache.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int count, char** words) {
  const size_t places = count > 1 && strcmp(words[1], "far") == 0 ? (size_t)1 << 25 : 256;
  uint64_t* next = malloc(places * sizeof *next);
  if (!next) return 1;
  // A step that has no divisor in common with a power of two leads through all of them.
  const size_t step = (places / 8 * 5) | 1;
  for (size_t i = 0, at = 0; i < places; i++, at = next[at]) next[at] = (at + step) % places;
  uint64_t at = 0;
  while (clock() < 2 * CLOCKS_PER_SEC) {
    for (int i = 0; i < 100000; i++) at = next[at];
  }
  return printf("%d\n", (int)(at % 2)) < 0;
}
