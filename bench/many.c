// SPDX-License-Identifier: MIT
// many EVENTS THREADS FILES: a recording of many events, of several kinds, threads and files.
// Each step is a region with two reads at odd places and a seek; now and then a write, a stat and a
// read that fails. Prints how many events it made.
#include <fathom/fathom.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES = 1 << 20, MOST_FILES = 64, MOST_THREADS = 64 };

struct job {
  long events;
  int files;
  unsigned seed;
  long made;
};

static void name_of(int file, char* name, size_t room) {
  snprintf(name, room, "many-%02d.data", file);
}

static int open_one(int file) {
  char name[32];
  name_of(file, name, sizeof name);
  const int fd = open(name, O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, FILE_BYTES) != 0) exit(3);
  return fd;
}

static uint32_t next(uint32_t* state) { return *state = *state * 1664525u + 1013904223u; }

static long seldom(int fd, int file, char* buffer) {
  struct stat facts;
  char name[32];
  name_of(file, name, sizeof name);
  if (pwrite(fd, buffer, 512, 0) != 512 || stat(name, &facts) != 0) exit(3);
  return 2 + (pread(-1, buffer, 64, 0) < 0);
}

static long step(int fd, int file, uint32_t* state, char* buffer) {
  FATHOM_REGION("step");
  const uint32_t place = next(state) >> 12;
  long made = 4;
  if (pread(fd, buffer, 64 + (place & 1023), place % (FILE_BYTES - 4096)) < 0) exit(3);
  if (pread(fd, buffer, 256, (place & 255) * 4096) != 256) exit(3);
  if (lseek(fd, place, SEEK_SET) < 0) exit(3);
  if ((place & 31) == 0) made += seldom(fd, file, buffer);
  return made;
}

static void* work(void* argument) {
  struct job* job = (struct job*)argument;
  static __thread char buffer[4096];
  int fds[MOST_FILES];
  uint32_t state = job->seed;
  for (int i = 0; i < job->files; i++) fds[i] = open_one(i);
  while (job->made < job->events) {
    const int file = (int)((next(&state) >> 16) % (unsigned)job->files);
    job->made += step(fds[file], file, &state, buffer);
  }
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t ids[MOST_THREADS];
  struct job jobs[MOST_THREADS];
  if (argc != 4) return 2;
  const int threads = atoi(argv[2]), files = atoi(argv[3]);
  if (threads < 1 || threads > MOST_THREADS || files < 1 || files > MOST_FILES) return 2;
  long made = 0;
  for (int i = 0; i < threads; i++) {
    jobs[i] = (struct job){atol(argv[1]) / threads, files, (unsigned)i + 1, 0};
    if (pthread_create(&ids[i], NULL, work, &jobs[i]) != 0) return 3;
  }
  for (int i = 0; i < threads; i++) {
    pthread_join(ids[i], NULL);
    made += jobs[i].made;
  }
  printf("%ld\n", made);
  return 0;
}
