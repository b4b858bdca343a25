// SPDX-License-Identifier: MIT
// counted: what regions and processes count. A region "touch" touches 500 fresh pages, "work" works
// in what it has and sleeps five times; a child and a thread do the same, and a region "around" is
// open while the child is forked. The main thread prints the CPU time of its "work" in ns.
#define _GNU_SOURCE
#include <fathom/fathom.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kPages = 500, kPage = 4096, kNaps = 5 };

static void touch(void) {
  FATHOM_REGION("touch");
  char* memory =
      mmap(NULL, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) exit(3);
  madvise(memory, kPages * kPage, MADV_NOHUGEPAGE);
  for (long i = 0; i < kPages; i++) ((volatile char*)memory)[i * kPage] = 1;
  munmap(memory, kPages * kPage);
}

static long cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

static long work(void) {
  const struct timespec nap = {0, 1000000};
  const long before = cpu_ns();
  FATHOM_REGION("work");
  FATHOM_ARG("own", "kept");
  for (volatile long i = 0; i < 20000000; i++) {
  }
  for (int i = 0; i < kNaps; i++) nanosleep(&nap, NULL);
  return cpu_ns() - before;
}

static void* other_thread(void* nothing) {
  touch();
  work();
  return nothing;
}

static void with_child(void) {
  FATHOM_REGION("around");
  const pid_t child = fork();
  if (child == 0) {
    touch();
    return;
  }
  waitpid(child, NULL, 0);
}

int main(void) {
  const pid_t own = getpid();
  touch();
  const long spent = work();
  pthread_t thread;
  pthread_create(&thread, NULL, other_thread, NULL);
  pthread_join(thread, NULL);
  with_child();
  if (getpid() == own) printf("%ld\n", spent);
  return 0;
}
