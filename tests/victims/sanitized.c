// SPDX-License-Identifier: MIT
// sanitized [BUG]: threads, stdio, fork, vfork, for builds with sanitizers. BUG is "heap", "race",
// "number" or "stack": what AddressSanitizer, ThreadSanitizer and UndefinedBehaviorSanitizer are
// there to see.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int contended;

static void* reads(void* racing) {
  char bytes[8];
  const int fd = open("data", O_RDONLY);
  for (int i = 0; i < 100; i++)
    if (pread(fd, bytes, 7, i) != 7) exit(3);
  if (racing) contended++;
  close(fd);
  return NULL;
}

// What the child of a vfork leaves on the stack is none of the parent's business.
__attribute__((noinline)) static void become_true(int depth) {
  char room[200];
  memset(room, depth, sizeof room);
  __asm__ volatile("" : : "r"(room) : "memory");
  if (depth < 0) return;
  if (depth == 0) execl("/bin/true", "true", NULL);
  become_true(depth - 1);
  _exit(4);
}
__attribute__((noinline)) static int uses_stack(int depth) {
  char room[333];
  memset(room, depth, sizeof room);
  __asm__ volatile("" : : "r"(room) : "memory");
  return room[depth] + (depth > 0 ? uses_stack(depth - 1) : 0);
}

int main(int argc, char** argv) {
  const char* bug = argc > 1 ? argv[1] : "";
  char bytes[200] = {0};
  int status = 0;
  const int fd = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (write(fd, bytes, sizeof bytes) != sizeof bytes) return 3;
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, reads, strcmp(bug, "race") == 0 ? bytes : NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  FILE* file = fopen("data", "r");
  if (fread(bytes, 1, 50, file) != 50) return 3;
  fclose(file);
  if (fork() == 0) {
    if (pread(fd, bytes, 7, 0) != 7) _exit(3);
    _exit(6);
  }
  wait(&status);
  if (vfork() == 0) become_true(5);
  wait(NULL);
  const int sum = uses_stack(6);
  char* heap = malloc(10 + (size_t)argc);
  if (strcmp(bug, "heap") == 0) heap[10 + argc] = 1;
  if (strcmp(bug, "stack") == 0) bytes[200 + argc] = 1;
  int number = 0x7fffffff - 2 + argc;
  if (strcmp(bug, "number") == 0) number += argc;
  printf("%d %d %d\n", WEXITSTATUS(status), sum > 0, number != 0);
  free(heap);
  return 5;
}
