// SPDX-License-Identifier: MIT
// locked_malloc TURNS: a program whose allocator holds one lock around all that it does, and calls
// libc meanwhile: whoever allocates on the way into a hook waits for ever. Reads 10 bytes TURNS
// times, with an allocation before each. With -DONLY_ALLOCATOR the allocator alone, as a library
// that the loader initialises before those that are preloaded; with -DONLY_PROGRAM the rest.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef ONLY_PROGRAM

static char arena[16 << 20] __attribute__((aligned(16)));
static size_t used;
static int ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// As jemalloc reads its options, and others look for huge pages and processors.
static void look_around(void) {
  char text[256];
  struct stat facts;
  if (readlink("/etc/malloc.conf", text, sizeof text) > 0) ready++;
  const int fd = open("/proc/self/statm", O_RDONLY);
  if (fd >= 0 && read(fd, text, sizeof text) > 0) ready++;
  if (fd >= 0) close(fd);
  if (stat("/sys/kernel/mm", &facts) == 0) ready++;
  ready += sysconf(_SC_NPROCESSORS_ONLN) > 0;
  void* page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) munmap(page, 4096);
}

void* malloc(size_t size) {
  pthread_mutex_lock(&lock);
  if (ready == 0) look_around();
  const size_t room = (size + 31) & ~(size_t)15;
  char* memory = used + room <= sizeof arena ? arena + used + 16 : NULL;
  if (memory) {
    memcpy(memory - 16, &size, sizeof size);
    used += room;
  }
  pthread_mutex_unlock(&lock);
  return memory;
}
void free(void* memory) {
  pthread_mutex_lock(&lock);
  (void)memory;
  pthread_mutex_unlock(&lock);
}
void* calloc(size_t count, size_t size) { return malloc(count * size); }  // the arena is used once
void* realloc(void* memory, size_t size) {
  size_t before = 0;
  void* fresh = malloc(size);
  if (memory) memcpy(&before, (char*)memory - 16, sizeof before);
  return fresh && memory ? memcpy(fresh, memory, before < size ? before : size) : fresh;
}
__attribute__((constructor)) static void first(void) { free(malloc(1)); }

#endif
#ifndef ONLY_ALLOCATOR

int main(int argc, char** argv) {
  char buffer[10];
  const int fd = open("/proc/self/exe", O_RDONLY);
  for (long i = 0; argc > 1 && i < atol(argv[1]); i++) {
    free(strdup("somewhere"));
    if (pread(fd, buffer, sizeof buffer, 0) != sizeof buffer) return 3;
  }
  printf("%s reads\n", argv[1]);
  return 0;
}

#endif
