// SPDX-License-Identifier: MIT
// Computes, waits, writes and reads a file, talks over a socket, three times: work for every layer.
// usage: layers FILE
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fathom/fathom.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kBlock = 1 << 16, kBlocks = 64 };

// Seen from outside by its name.
__attribute__((noinline)) double compute(double ms) {
  FATHOM_FUNCTION();
  struct timespec begin, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  double sum = 0;
  do {
    for (int i = 1; i < 100000; i++) sum += 1.0 / i;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1e3 + (now.tv_nsec - begin.tv_nsec) / 1e6 < ms);
  return sum;
}

static void waits(void) {
  FATHOM_REGION("waits");
  usleep(100 * 1000);
}

static void writes(const char* name) {
  FATHOM_FUNCTION();
  char* block = calloc(1, kBlock);
  const int fd = open(name, O_CREAT | O_RDWR | O_TRUNC, 0600);
  for (int i = 0; i < kBlocks; i++) {
    FATHOM_REGION("block");
    if (write(fd, block, kBlock) < 0) exit(1);
  }
  fsync(fd);
  for (int i = 0; i < kBlocks; i++)
    if (pread(fd, block, kBlock, (off_t)i * kBlock) < 0) exit(1);
  close(fd);
  free(block);
  FILE* file = fopen(name, "r");
  for (int i = 0; i < 100; i++) fgetc(file);
  char line[4096];
  for (int i = 0; i < 20; i++)
    if (fread(line, 1, sizeof line, file) == 0) exit(1);
  fclose(file);
}

static void talks(void) {
  const int listens = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  bind(listens, (struct sockaddr*)&at, size);
  listen(listens, 1);
  getsockname(listens, (struct sockaddr*)&at, &size);
  const int one = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(one, (struct sockaddr*)&at, size) != 0) exit(1);
  const int other = accept(listens, NULL, NULL);
  char block[4096] = "";
  for (int i = 0; i < 20; i++)
    if (send(one, block, sizeof block, 0) < 0 || recv(other, block, sizeof block, MSG_WAITALL) < 0)
      exit(1);
  close(one);
  close(other);
  close(listens);
}

int main(int count, char** words) {
  if (count != 2) return 2;
  for (int i = 0; i < 3; i++) {
    FATHOM_REGION("step");
    FATHOM_COUNTER("level", 10 * i);
    compute(60);
    waits();
    writes(words[1]);
    talks();
  }
  return 0;
}
