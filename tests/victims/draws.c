/* SPDX-License-Identifier: MIT
   Draws as many random numbers as it is told. */
#include <stdlib.h>

int main(int count, char** words) {
  long draws = count > 1 ? atol(words[1]) : 1;
  for (long i = 0; i < draws; i++) random();
  return 0;
}
