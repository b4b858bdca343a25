// SPDX-License-Identifier: MIT
// own_functions: has functions of libc's names itself, as sanitizers and allocators have, and
// counts how often libraries call them: 5 writes of the C++ library and 3 threads.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <thread>

static int writes, threads;

template <class Function>
static Function* next(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

extern "C" ssize_t pread(int file, void* to, size_t size, off_t from) {
  return next(&pread, "pread")(file, to, size, from);
}
extern "C" ssize_t write(int file, const void* from, size_t size) {
  writes++;
  return next(&write, "write")(file, from, size);
}
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) noexcept {
  threads++;
  return next(&pthread_create, "pthread_create")(thread, attributes, start, argument);
}

int main() {
  std::ofstream out("/dev/null");
  for (int i = 0; i < 5; i++) out << "abc" << std::flush;
  for (int i = 0; i < 3; i++) std::thread([] {}).join();
  printf("%d writes, %d threads\n", writes, threads);
  return 12;
}
