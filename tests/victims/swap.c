// SPDX-License-Identifier: MIT
// swap TURNS: one thread opens and closes two files that take turns on one descriptor number,
// another reads from that number. What was read tells which file it was: the truth for the name
// that the recording gives.
#define _GNU_SOURCE
#include <fathom/fathom.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int done;
static int number;

static void make(const char* path, char letter) {
  char text[64];
  memset(text, letter, sizeof text);
  int fd = creat(path, 0600);
  if (fd < 0 || write(fd, text, sizeof text) != sizeof text || close(fd) != 0) exit(3);
}

static void* read_number(void* unused) {
  while (!atomic_load(&done)) {
    char byte = 0;
    FATHOM_REGION("look");
    if (pread(number, &byte, 1, 7) == 1) FATHOM_ARG("truth", byte == 'A' ? "a" : "b");
  }
  return unused;
}

int main(int argc, char** argv) {
  make("a", 'A');
  make("b", 'B');
  number = open("a", O_RDONLY);
  pthread_t reader;
  if (argc != 2 || pthread_create(&reader, NULL, read_number, NULL) != 0) return 3;
  for (long i = 0; i < atol(argv[1]); i++) {
    close(number);
    if (open(i % 2 ? "a" : "b", O_RDONLY) != number) return 4;
    if (i % 3 == 0) {
      int other = open(i % 2 ? "b" : "a", O_RDONLY);
      if (dup2(other, number) != number) return 5;
      close(other);
    }
    for (volatile int spin = 0; spin < 500; spin++) {
    }
  }
  atomic_store(&done, 1);
  pthread_join(reader, NULL);
  return 0;
}
