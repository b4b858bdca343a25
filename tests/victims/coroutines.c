// SPDX-License-Identifier: MIT
// coroutines NUMBER: three stacks take turns, each with an open region and reads in it.
#include <fathom/fathom.h>
#include <fcntl.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

enum { kCoroutines = 3, kStack = 1 << 16 };
static ucontext_t home, contexts[kCoroutines];
static int data;
static long turns;

static void body(int number) {
  char buffer[13];
  for (long i = 0; i < turns; i++) {
    FATHOM_REGION("step");
    FATHOM_ARG("who", number);
    if (pread(data, buffer, sizeof buffer, 0) != sizeof buffer) _exit(9);
    swapcontext(&contexts[number], i + 1 < turns ? &contexts[(number + 1) % kCoroutines] : &home);
    if (pread(data, buffer, sizeof buffer, 0) != sizeof buffer) _exit(9);
  }
}

int main(int argc, char** argv) {
  turns = argc > 1 ? atol(argv[1]) : 10;
  data = open("data", O_RDWR | O_CREAT, 0600);
  if (pwrite(data, "twenty bytes of data", 20, 0) != 20) return 3;
  for (int i = 0; i < kCoroutines; i++) {
    getcontext(&contexts[i]);
    contexts[i].uc_stack.ss_sp = malloc(kStack);
    contexts[i].uc_stack.ss_size = kStack;
    contexts[i].uc_link = &home;
    makecontext(&contexts[i], (void (*)(void))body, 1, i);
  }
  for (int i = 0; i < kCoroutines; i++) swapcontext(&home, &contexts[i]);
  return 0;
}
