// SPDX-License-Identifier: MIT
// Prints what it was given as LD_PRELOAD and as KEPT, and ends with 7.
#include <stdio.h>
#include <stdlib.h>

static const char* value_of(const char* name) {
  const char* value = getenv(name);
  return value ? value : "-";
}

int main(void) {
  printf("%s %s\n", value_of("LD_PRELOAD"), value_of("KEPT"));
  return 7;
}
