// SPDX-License-Identifier: MIT
// lives_of_threads N: as many threads compute a little and nap, three times. Each tells its number,
// and what the kernel says that it ran (ns).
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kTurns = 3, kNap = 2000, kWork = 200000, kMost = 4096 };

static void* live(void* unused) {
  volatile double kept = 0;
  for (int turn = 0; turn < kTurns; turn++) {
    for (int i = 0; i < kWork; i++) kept = kept * 0.99 + i;
    usleep(kNap);
  }
  long ran = 0;
  FILE* file = fopen("/proc/thread-self/schedstat", "r");
  if (file == NULL || fscanf(file, "%ld", &ran) != 1) ran = 0;
  if (file != NULL) fclose(file);
  printf("%ld %ld\n", syscall(SYS_gettid), ran);
  return unused;
}

int main(int argc, char** argv) {
  static pthread_t threads[kMost];
  const int count = argc == 2 ? atoi(argv[1]) : 1;
  for (int i = 0; i < count && i < kMost; i++) pthread_create(&threads[i], NULL, live, NULL);
  for (int i = 0; i < count && i < kMost; i++) pthread_join(threads[i], NULL);
  return 0;
}
