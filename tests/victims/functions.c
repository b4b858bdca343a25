// SPDX-License-Identifier: MIT
// functions NUMBER [LEVELS]: compiled with -finstrument-functions. Functions that return, that
// longjmp leaves, and threads that end in the midst; then some LEVELS deep (300), and as deep again
// with a longjmp from there.
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf back;

__attribute__((noinline)) int leaf(int x) {
  __asm__ volatile("");
  return x + 1;
}
__attribute__((noinline)) int middle(int x) { return leaf(x) + leaf(x); }
__attribute__((noinline)) void thrower(int x) {
  if (leaf(x) > 0) longjmp(back, 1);
}
__attribute__((noinline)) void* ending(void* unused) {
  leaf(1);
  pthread_exit(unused);
}
__attribute__((noinline)) int deep(int left) { return left == 0 ? 0 : 1 + deep(left - 1); }

__attribute__((noinline)) int cliff(int left) {
  if (left == 0) thrower(left);
  return left < 0 ? 0 : 1 + cliff(left - 1);
}

int main(int argc, char** argv) {
  const int number = argc > 1 ? atoi(argv[1]) : 1;
  for (int i = 0; i < number; i++) middle(i);
  for (volatile int i = 0; i < number; i++)
    if (setjmp(back) == 0) thrower(i);
  for (int i = 0; i < number; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, ending, NULL) != 0) return 3;
    pthread_join(thread, NULL);
  }
  const int levels = argc > 2 ? atoi(argv[2]) : 300;
  if (deep(levels) != levels) return 4;
  if (setjmp(back) == 0) cliff(levels);
  return leaf(1) != 2;
}
