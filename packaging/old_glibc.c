// SPDX-License-Identifier: MIT
// What the C++ run-time library of the compiler, and our own code, ask of glibc and glibc 2.31 has
// not. Linked into packages alone (cmake/package.cmake), hidden, so that nobody else meets it.
#include <limits.h>
#include <locale.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN extern char __libc_single_threaded;
HIDDEN uint32_t arc4random(void);
HIDDEN void closefrom(int first);
HIDDEN struct mallinfo2 mallinfo2(void);
HIDDEN const char* strerrorname_np(int number);
HIDDEN const char* strerrordesc_np(int number);

// glibc 2.32. "There may be threads" is always true enough: it only takes locks and atomics.
char __libc_single_threaded = 0;

// glibc 2.36, for std::random_device. As there, a program without random numbers does not go on.
uint32_t arc4random(void) {
  uint32_t value = 0;
  if (getentropy(&value, sizeof value) != 0) abort();
  return value;
}

// glibc 2.34.
void closefrom(int first) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
#endif
  const long most = sysconf(_SC_OPEN_MAX);
  for (long fd = first; fd < (most > 0 && most < INT_MAX ? most : 1024); fd++) close((int)fd);
}

// glibc 2.33. Only what we ask for, and of the low 32 bits: whether freed memory is worth a trim.
struct mallinfo2 mallinfo2(void) {
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  const struct mallinfo old = mallinfo();
  const struct mallinfo2 info = {.fordblks = (unsigned)old.fordblks};
  return info;
}

struct name {
  int number;
  const char* text;
};
static const struct name kNames[] = {
    {0, "0"},
#include "errno_names.inc"
};

// glibc 2.32, as the next one.
const char* strerrorname_np(int number) {
  for (size_t i = 0; i < sizeof kNames / sizeof *kNames; i++) {
    if (kNames[i].number == number) return kNames[i].text;
  }
  return NULL;
}

const char* strerrordesc_np(int number) {
  static locale_t plain;
  if (strerrorname_np(number) == NULL) return NULL;
  locale_t now = __atomic_load_n(&plain, __ATOMIC_ACQUIRE);
  if (now == NULL) {  // of several threads all may come here once: a few bytes
    now = newlocale(LC_ALL_MASK, "C", NULL);
    __atomic_store_n(&plain, now, __ATOMIC_RELEASE);
  }
  return strerror_l(number, now);
}
