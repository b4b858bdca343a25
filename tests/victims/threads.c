// SPDX-License-Identifier: MIT
// threads MODE NUMBER: threads that are many, small, or end in unusual ways. Prints what was done,
// "key value" a line.
#define _GNU_SOURCE
#include <errno.h>
#include <fathom/fathom.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int data, pipes[2];
static atomic_int cleaned;

static void look(void) {
  char buffer[13];
  if (pread(data, buffer, sizeof buffer, 0) != sizeof buffer) _exit(9);
}

static void* brief(void* unused) {
  FATHOM_REGION("life");
  look();
  return unused;
}

static void leave(void) {
  FATHOM_REGION("inner");
  look();
  pthread_exit(NULL);
}
static void* leaving(void* unused) {
  FATHOM_REGION("outer");
  leave();
  return unused;
}

static void clean(void* unused) {
  (void)unused;
  look();
  atomic_fetch_add(&cleaned, 1);
}
static void* blocked(void* unused) {
  char byte;
  int before;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  pthread_cleanup_push(clean, NULL);
  look();
  pthread_setcancelstate(before, &before);
  if (read(pipes[0], &byte, 1) >= 0) _exit(8);
  pthread_cleanup_pop(0);
  return unused;
}

// Every key's destructor makes calls too, after ours may have run.
static void destructor(void* value) {
  (void)value;
  look();
}
static pthread_key_t key;
static void* with_key(void* unused) {
  pthread_setspecific(key, &key);
  look();
  return unused;
}

static void run(void* (*body)(void*), int number, size_t stack, int cancel) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (stack != 0 && pthread_attr_setstacksize(&attributes, stack) != 0) _exit(7);
  for (int done = 0; done < number;) {
    pthread_t ids[16];
    int now = 0;
    for (; now < 16 && done < number; now++, done++)
      if (pthread_create(&ids[now], &attributes, body, NULL) != 0) _exit(6);
    if (cancel) usleep(2000);
    for (int i = 0; i < now; i++) {
      void* result;
      if (cancel) pthread_cancel(ids[i]);
      if (pthread_join(ids[i], &result) != 0) _exit(5);
      if (cancel && result != PTHREAD_CANCELED) _exit(4);
    }
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const char* mode = argv[1];
  const int number = atoi(argv[2]);
  data = open("data", O_RDWR | O_CREAT, 0600);
  if (data < 0 || pwrite(data, "twenty bytes of data", 20, 0) != 20 || pipe(pipes) != 0) return 3;
  if (strcmp(mode, "storm") == 0) run(brief, number, 0, 0);
  if (strcmp(mode, "tiny") == 0) run(brief, number, PTHREAD_STACK_MIN, 0);
  if (strcmp(mode, "exit") == 0) run(leaving, number, 0, 0);
  if (strcmp(mode, "cancel") == 0) run(blocked, number, 0, 1);
  if (strcmp(mode, "keys") == 0) {
    if (pthread_key_create(&key, destructor) != 0) return 3;
    run(with_key, number, 0, 0);
  }
  printf("cleaned %d\n", atomic_load(&cleaned));
  return 0;
}
