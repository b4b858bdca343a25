// SPDX-License-Identifier: MIT
// many_names COUNT CALLS: asks for COUNT files that are not there, CALLS times in all.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const long count = atol(argv[1]), calls = atol(argv[2]);
  for (long i = 0; i < calls; i++) {
    char name[128];
    snprintf(name, sizeof name, "a-file-that-is-not-there-with-a-name-to-remember-%ld", i % count);
    if (open(name, O_RDONLY) >= 0) return 3;
  }
  return 0;
}
