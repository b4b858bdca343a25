// SPDX-License-Identifier: MIT
// heap MODE N [THREADS CHILDREN | PATH]: calls every function of the malloc family N times and
// knows how often. Prints nothing but what was asked for: allocations of ours would be counted,
// too.
//   work     in threads and in forked children, each of them N rounds; then the same in a new image
//   kill     in threads; then SIGKILL comes
//   plugin   in a library that is loaded and unloaded (this file, built with -shared)
//   segments while more is recorded than a segment holds, over and over
//   bare     what the process takes for itself
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fathom/fathom.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long rounds;
static pthread_key_t key;
static volatile size_t too_much = SIZE_MAX / 2;
static void* volatile none;  // compilers make a malloc of realloc(NULL)

static void must(int condition, int status) {
  if (!condition) _exit(status);
}

static void give(void* memory) {
  errno = 77;
  free(memory);
  must(errno == 77, 21);
}

// A call that worked leaves errno alone, and the memory is as it should be.
static void* got(void* memory, size_t alignment, size_t size) {
  must(memory != NULL && errno == 77 && (uintptr_t)memory % alignment == 0, 22);
  memset(memory, 1, size);
  return memory;
}

static void one_round(void) {
  errno = 77;
  give(got(malloc(100), 16, 100));
  give(got(calloc(7, 30), 16, 210));
  char* memory = got(realloc(none, 50), 16, 50);
  memory = got(realloc(memory, 5000), 16, 50);
  must(memory[49] == 1, 23);
  give(memory);
  give(got(reallocarray(none, 5, 20), 16, 100));
  void* aligned = NULL;
  must(posix_memalign(&aligned, 256, 300) == 0, 24);
  give(got(aligned, 256, 300));
  give(got(aligned_alloc(64, 128), 64, 128));
  give(got(memalign(32, 64), 32, 64));
  give(got(valloc(11), 4096, 11));
  give(got(pvalloc(12), 4096, 4096));
  give(NULL);
  must(malloc(too_much) == NULL && errno == ENOMEM, 25);
  must(calloc(too_much, 4) == NULL && errno == ENOMEM, 26);
  errno = 0;
  must(reallocarray(none, too_much, 4) == NULL && errno == ENOMEM, 29);
  must(posix_memalign(&aligned, 3, 8) == EINVAL, 27);
}

static void* work(void* unused) {
  for (long i = 0; i < rounds; i++) one_round();
  if (unused) must(pthread_setspecific(key, malloc(3)) == 0, 28);  // freed by the key's destructor
  return unused;
}

static void run_threads(long count) {
  pthread_t threads[128];
  must(count <= 128 && pthread_key_create(&key, free) == 0, 30);
  for (long i = 0; i < count; i++) must(pthread_create(&threads[i], NULL, work, &rounds) == 0, 31);
  for (long i = 0; i < count; i++) must(pthread_join(threads[i], NULL) == 0, 32);
}

static void run_children(long count) {
  for (long i = 0; i < count; i++) {
    const pid_t child = fork();
    if (child == 0) {
      work(NULL);
      _exit(0);
    }
    int status = 1;
    must(waitpid(child, &status, 0) == child && status == 0, 32);
  }
}

static void run_plugin(const char* path) {
  for (int i = 0; i < 3; i++) {
    void* library = dlopen(path, RTLD_NOW);
    must(library != NULL, 33);
    void (*plugged)(long) = (void (*)(long))dlsym(library, "plugged");
    must(plugged != NULL, 34);
    plugged(rounds);
    must(dlclose(library) == 0, 35);
  }
}

__attribute__((visibility("default"))) void plugged(long number) {
  for (long i = 0; i < number; i++) give(memalign(64, 64));
}

static void run_segments(void) {
  for (long i = 0; i < rounds; i++) {
    free(valloc(10));
    for (int filled = 0; filled < 1000; filled++) {
      FATHOM_REGION("fill");
    }
  }
}

// Before main, and before the constructors of the program are done.
__attribute__((constructor(101))) static void first(void) { free(pvalloc(1)); }

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* mode = argv[1];
  rounds = atol(argv[2]);
  if (strcmp(mode, "work") == 0) {
    run_threads(atol(argv[3]));
    run_children(atol(argv[4]));
    execl(argv[0], argv[0], "image", argv[2], NULL);
    return 3;
  }
  if (strcmp(mode, "image") == 0) work(NULL);
  if (strcmp(mode, "kill") == 0) {
    run_threads(atol(argv[3]));
    kill(getpid(), SIGKILL);
  }
  if (strcmp(mode, "plugin") == 0) run_plugin(argv[3]);
  if (strcmp(mode, "segments") == 0) run_segments();
  return write(1, "done\n", 5) == 5 ? 0 : 4;
}
