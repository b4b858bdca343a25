/* SPDX-License-Identifier: MIT
   A plain program of C, none of whose functions is left but by its return, or by longjmp: `work`
   takes a millisecond 50 times, `jumper` is left by longjmp 50 of 100 times, `locked` begins with
   an instruction that the kernel takes no probe on, where there is one; strlen and memcpy 500
   times. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) void work(void) { usleep(1000); }

static jmp_buf back;
__attribute__((noinline)) int jumper(int n) {
  if (n % 2 == 0) longjmp(back, 1);
  return n;
}

#ifdef __x86_64__
static int lock;
void locked(int* at);
__asm__(
    ".globl locked\n.type locked, @function\nlocked: lock incl (%rdi)\n ret\n.size locked, "
    ".-locked");
#endif

int main(void) {
  volatile size_t sum = 0;
  volatile int jumped = 0;
  char text[64] = "a line", copy[64];
  /* Which no compiler replaces by code of its own. */
  size_t (*volatile length)(const char*) = strlen;
  void* (*volatile move)(void*, const void*, size_t) = memcpy;
  for (volatile int i = 0; i < 100; i++) {
    if (i < 50) work();
    if (setjmp(back) != 0) {
      jumped++;
    } else {
      jumper(i);
    }
#ifdef __x86_64__
    locked(&lock);
#endif
  }
  for (volatile size_t i = 0; i < 500; i++) {
    text[0] = (char)('a' + i % 26);
    sum += length(text);
    move(copy, text, sizeof text - 10 + i % 10);
    sum += (size_t)copy[1];
  }
  printf("jumped %d\nsum %zu\n", jumped, sum);
  return 0;
}
