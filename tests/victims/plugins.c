// SPDX-License-Identifier: MIT
// plugins TURNS LIBRARY...: loads each library in turn, calls it, unloads it.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  for (int turn = 0; turn < atoi(argv[1]); turn++) {
    void* library = dlopen(argv[2 + turn % (argc - 2)], RTLD_NOW);
    if (!library) {
      fprintf(stderr, "%s\n", dlerror());
      return 3;
    }
    int (*work)(int) = (int (*)(int))dlsym(library, "plugin_work");
    if (!work || work(turn) != 0 || dlclose(library) != 0) return 4;
  }
  return 0;
}
