// SPDX-License-Identifier: MIT
// progress: reads for ever, in two threads; each tells in a shared file how many reads it has
// finished, which nobody can take back.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile uint64_t* done;
static int data;

static void* work(void* which) {
  char buffer[7];
  const size_t size = which == NULL ? 5 : 6;
  for (;;) {
    if (pread(data, buffer, size, 0) != (ssize_t)size) _exit(9);
    done[which != NULL]++;
  }
}

int main(void) {
  data = open("data", O_RDWR | O_CREAT, 0600);
  const int told = open("progress", O_RDWR | O_CREAT, 0600);
  if (pwrite(data, "twenty bytes of data", 20, 0) != 20 || ftruncate(told, 4096) != 0) return 3;
  done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, told, 0);
  pthread_t thread;
  if (done == MAP_FAILED || pthread_create(&thread, NULL, work, &data) != 0) return 3;
  work(NULL);
}
