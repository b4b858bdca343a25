/* SPDX-License-Identifier: MIT
   Asks the driver for a function a line of standard input, `name flags version`, and prints which
   symbol of which library it got, as a program with hooks in it sees it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  int (*ask)(const char*, void**, int, uint64_t, int*) =
      (int (*)(const char*, void**, int, uint64_t, int*))dlsym(library, "cuGetProcAddress_v2");
  char name[96];
  int flags, version;
  while (scanf("%95s %d %d", name, &flags, &version) == 3) {
    void* function = NULL;
    Dl_info info = {0};
    const int result = ask(name, &function, version, (uint64_t)flags, NULL);
    if (function != NULL) dladdr(function, &info);
    const char* owner = info.dli_fname != NULL ? strrchr(info.dli_fname, '/') : NULL;
    printf("%s %d %d %d %s %s\n", name, flags, version, result,
           info.dli_sname != NULL ? info.dli_sname : "NULL", owner != NULL ? owner + 1 : "-");
  }
  return 0;
}
