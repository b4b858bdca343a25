// SPDX-License-Identifier: MIT
// c11_threads: five threads of <threads.h> that do nothing.
#include <threads.h>

static int idle(void* argument) {
  (void)argument;
  return 4;
}

int main(void) {
  for (int i = 0; i < 5; i++) {
    thrd_t thread;
    int result = 0;
    if (thrd_create(&thread, idle, 0) != thrd_success) return 1;
    if (thrd_join(thread, &result) != thrd_success || result != 4) return 2;
  }
  return 0;
}
