// SPDX-License-Identifier: MIT
// Functions that are left without a return, 100 of 200 times each: by exceptions, also through one
// of C, by longjmp, by the end of a thread that is cancelled. What has to happen all the same is
// counted and printed.
#include <pthread.h>
#include <unistd.h>

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#define PLAIN extern "C" __attribute__((noinline))

namespace {
jmp_buf back;
volatile int caught, sorted, jumped, ended, sink;

struct Ended {
  ~Ended() { ended = ended + 1; }
};
}  // namespace

PLAIN int thrower(int n) {
  if (n % 2 == 0) throw std::runtime_error("even");
  return n;
}
PLAIN int passer(int n) { return thrower(n) + 1; }
PLAIN int calm(int n) { return n + 2; }
PLAIN int jumper(int n) {
  if (n % 2 == 0) longjmp(back, 1);
  return n;
}

static int compare(const void* a, const void*) { return thrower(*static_cast<const int*>(a)); }

static void sort_some(int n) {
  int numbers[2] = {n, n};
  try {
    qsort(numbers, 2, sizeof *numbers, compare);
  } catch (const std::exception&) {
    sorted = sorted + 1;
  }
}

static void pass_some(int n) {
  try {
    sink = passer(n);
  } catch (const std::exception&) {
    caught = caught + 1;
  }
}

static void jump_some(int n) {
  if (setjmp(back) != 0) {
    jumped = jumped + 1;
  } else {
    sink = jumper(n);
  }
}

static void* wait_for_ever(void*) {
  const Ended on_end;
  pause();
  return nullptr;
}

int main() {
  for (volatile int i = 0; i < 200; i = i + 1) {
    sort_some(i);
    pass_some(i);
    jump_some(i);
    sink = calm(i);
  }
  pthread_t thread;
  pthread_create(&thread, nullptr, wait_for_ever, nullptr);
  usleep(100000);
  pthread_cancel(thread);
  pthread_join(thread, nullptr);
  std::printf("sorted %d\ncaught %d\njumped %d\nended %d\n", sorted, caught, jumped, ended);
  return 0;
}
