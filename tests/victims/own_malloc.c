// SPDX-License-Identifier: MIT
// A program with an allocator of its own that counts: what main() calls is printed, and must be the
// same with and without a recorder.
#define _GNU_SOURCE
#include <fathom/fathom.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char arena[1 << 30] __attribute__((aligned(16)));
static size_t used;
static long calls;

void* malloc(size_t size) {
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  const size_t at = __atomic_fetch_add(&used, (size + 31) & ~(size_t)15, __ATOMIC_RELAXED);
  if (at + size + 16 > sizeof arena) return NULL;
  memcpy(arena + at, &size, sizeof size);
  return arena + at + 16;
}
void free(void* memory) { (void)memory; }
void* calloc(size_t number, size_t size) { return malloc(number * size); }
void* realloc(void* memory, size_t size) {
  void* fresh = malloc(size);
  size_t old = 0;
  if (memory) memcpy(&old, (char*)memory - 16, sizeof old);
  if (fresh && memory) memcpy(fresh, memory, old < size ? old : size);
  return fresh;
}

static void* work(void* unused) {
  char buffer[13];
  const int fd = open("data", O_RDONLY);
  for (int i = 0; i < 1000; i++) {
    FATHOM_REGION("turn");
    FATHOM_ARG("text", "of some length");
    if (pread(fd, buffer, sizeof buffer, 0) != sizeof buffer) _exit(9);
  }
  close(fd);
  return unused;
}

int main(void) {
  calls = 0;
  FILE* file = fopen("data", "w");
  if (!file || fprintf(file, "twenty bytes of data") != 20 || fclose(file) != 0) return 3;
  const long before = __atomic_load_n(&calls, __ATOMIC_RELAXED);
  work(NULL);
  if (__atomic_load_n(&calls, __ATOMIC_RELAXED) != before) return 4;
  for (int i = 0; i < 5; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
  }
  const int in_fork = fork();
  if (in_fork == 0) {
    const long now = __atomic_load_n(&calls, __ATOMIC_RELAXED);
    work(NULL);
    _exit(__atomic_load_n(&calls, __ATOMIC_RELAXED) != now);
  }
  char line[64];
  const int length =
      snprintf(line, sizeof line, "%ld\n", __atomic_load_n(&calls, __ATOMIC_RELAXED));
  return write(1, line, (size_t)length) == length ? 0 : 5;
}
