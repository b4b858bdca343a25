// SPDX-License-Identifier: MIT
// early: calls functions of libc before libc's own initializers have run, as sanitizers and
// allocators do: there is no environment yet.
#include <stdio.h>
#include <unistd.h>

static void calls_early(int count, char** words, char** variables) {
  (void)count, (void)words, (void)variables;
  char byte;
  for (int i = 0; i < 3; i++) (void)!read(-1, &byte, 1);
}
__attribute__((section(".preinit_array"), used)) static void (*first)(int, char**,
                                                                      char**) = calls_early;

int main(void) {
  puts("ran");
  return 0;
}
