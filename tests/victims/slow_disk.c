/* SPDX-License-Identifier: MIT
 * A disk that is slow by the clock: preloaded behind Fathom's library, its calls sleep. What a
 * program with a known bottleneck loses, and its twin saves, then hardly depends on the machine. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  CALL_NS = 40 * 1000,
  SEEK_NS = 200 * 1000,
  OPEN_NS = 100 * 1000,
  SYNC_NS = 1000 * 1000,
  NS_PER_KIB = 4 * 1000
};
enum { MOST_FDS = 256 };
static off_t ends[MOST_FDS];  // where the last read of a descriptor ended

static void wait_ns(long ns) {
  const struct timespec time = {ns / 1000000000, ns % 1000000000};
  nanosleep(&time, NULL);
}

__attribute__((constructor)) static void begin(void) { prctl(PR_SET_TIMERSLACK, 1UL); }

#define ORIGINAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t read(int fd, void* to, size_t size) {
  const ssize_t got = ORIGINAL(read)(fd, to, size);
  if (fd > 2) wait_ns(CALL_NS + got / 1024 * NS_PER_KIB);
  return got;
}

ssize_t write(int fd, const void* from, size_t size) {
  if (fd > 2) wait_ns(CALL_NS + (long)(size / 1024) * NS_PER_KIB);
  return ORIGINAL(write)(fd, from, size);
}

ssize_t pread(int fd, void* to, size_t size, off_t offset) {
  const int seeks = fd < MOST_FDS && ends[fd] != offset;
  wait_ns(seeks ? SEEK_NS : (long)(size / 1024) * NS_PER_KIB / 4);
  if (fd < MOST_FDS) ends[fd] = offset + (off_t)size;
  return ORIGINAL(pread)(fd, to, size, offset);
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  wait_ns(OPEN_NS);
  return ORIGINAL(open)(path, flags, mode);
}

int stat(const char* path, struct stat* facts) {
  wait_ns(OPEN_NS);
  return ORIGINAL(stat)(path, facts);
}

int rename(const char* from, const char* to) {
  wait_ns(OPEN_NS);
  return ORIGINAL(rename)(from, to);
}

int fdatasync(int fd) {
  wait_ns(SYNC_NS);
  return ORIGINAL(fdatasync)(fd);
}

int fflush(FILE* stream) {
  wait_ns(OPEN_NS);
  return ORIGINAL(fflush)(stream);
}
