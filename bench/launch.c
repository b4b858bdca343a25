// SPDX-License-Identifier: MIT
// launch TURNS: ns of thread CPU for one cuLaunchKernel of whatever libcuda.so.1 is found first.
#include <dlfcn.h>
#include <string.h>

#include "cost.h"

typedef void* handle;
typedef int (*launch_function)(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                               unsigned, handle, void**, void**);

static const char kPtx[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry nothing()\n{\n ret;\n}\n";

static launch_function launch;
static handle function;

static void* find(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == NULL) exit(3);
  return found;
}

// In the thread that is to launch.
static void* open_driver(void) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) exit(4);
  handle context, module;
  int (*init)(unsigned);
  int (*retain)(handle*, int);
  int (*make_current)(handle);
  int (*load)(handle*, const void*);
  int (*get)(handle*, handle, const char*);
  *(void**)&init = find(library, "cuInit");
  *(void**)&retain = find(library, "cuDevicePrimaryCtxRetain");
  *(void**)&make_current = find(library, "cuCtxSetCurrent");
  *(void**)&load = find(library, "cuModuleLoadData");
  *(void**)&get = find(library, "cuModuleGetFunction");
  *(void**)&launch = find(library, "cuLaunchKernel");
  if (init(0) || retain(&context, 0) || make_current(context) || load(&module, kPtx) ||
      get(&function, module, "nothing"))
    exit(5);
  return NULL;
}

static void launch_loop(long turns, void* unused) {
  (void)unused;
  for (long i = 0; i < turns; i++)
    if (launch(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) != 0) exit(6);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  measure(launch_loop, open_driver, atol(argv[1]), 1);
  return 0;
}
