// SPDX-License-Identifier: MIT
// compiled: copies a loop into memory of its own as a run-time compiler does, says so in
// /tmp/perf-PID.map, and runs it there for 200 ms, twice: the second time under another name in the
// same place. Removes the file before it ends.
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef long work(long);

// Reads and calls nothing of this program, so that it runs wherever it lies.
__attribute__((noinline, no_reorder, section(".text.copied"))) static long pattern(long turns) {
  volatile unsigned long mixed = 1;
  for (long i = 0; i < turns; i++) mixed = mixed * 12345 + 1;
  return (long)mixed;
}
__attribute__((noinline, no_reorder, section(".text.copied"))) static long behind(long turns) {
  return turns;
}

static long thread_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void compile(FILE* map, char* code, size_t size, const char* name) {
  mprotect(code, 65536, PROT_READ | PROT_WRITE);
  memcpy(code, (void*)pattern, size);
  mprotect(code, 65536, PROT_READ | PROT_EXEC);
  fprintf(map, "%lx %zx %s\n", (unsigned long)code, size, name);
  fflush(map);
}

static void spend(char* code) {
  const long end = thread_ns() + 200000000;
  while (thread_ns() < end) ((work*)(void*)code)(100000);
}

int main(void) {
  const size_t size = (size_t)((char*)behind - (char*)pattern);
  char* code = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char path[64];
  snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
  FILE* map = fopen(path, "w");
  if (code == MAP_FAILED || map == NULL || behind((long)size) > 65536) return 1;
  compile(map, code, size, "first of two");
  spend(code);
  usleep(300000);  // who reads the map now and then knows the first name by now
  compile(map, code, size, "second of two");
  spend(code);
  fclose(map);
  return unlink(path);
}
