// SPDX-License-Identifier: MIT
// kinds: two functions that compute, one three times as long as the other. With -DPLUGIN they are a
// library, with -DHOST the program that opens it.
#define COMPUTES(name)                                          \
  __attribute__((noinline)) double name(double x, long turns) { \
    for (long i = 0; i < turns; i++) x = x * 0.999 + (double)i; \
    return x;                                                   \
  }
enum { ROUNDS = 100, TURNS = 300000 };

#ifndef HOST
COMPUTES(major)
COMPUTES(minor)
double both(double x) {
  for (int i = 0; i < ROUNDS; i++) {
    x = major(x, 3 * TURNS);
    x = minor(x, TURNS);
  }
  return x + 1;
}
#endif

#ifdef HOST
#include <dlfcn.h>
int main(int argc, char** argv) {
  (void)argc;
  void* plugin = dlopen(argv[1], RTLD_NOW);
  if (plugin == 0) return 1;
  double (*both)(double) = (double (*)(double))dlsym(plugin, "both");
  return both(1) < 0;
}
#elif !defined(PLUGIN)
int main(void) { return both(1) < 0; }
#endif
