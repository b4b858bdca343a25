/* SPDX-License-Identifier: MIT
   CUDA's run-time library as far as its copies go: what libcudart.so does with the driver, which it
   loads itself and asks for its functions, as the real one does. Built as a library, into a
   program, or into a library of a program that shows its symbols. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t address;

static int (*resolve)(const char*, void**, int, uint64_t, int*);

static void* function(const char* name) {
  void* found = NULL;
  int status = 0;
  if (resolve == NULL) {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (driver == NULL) return NULL;
    *(void**)&resolve = dlsym(driver, "cuGetProcAddress_v2");
    void* context = NULL;
    ((int (*)(unsigned))function("cuInit"))(0);
    ((int (*)(void**, int))function("cuDevicePrimaryCtxRetain"))(&context, 0);
    ((int (*)(void*))function("cuCtxSetCurrent"))(context);
  }
  return resolve(name, &found, 12000, 0, &status) == 0 ? found : NULL;
}

int cudaMalloc(void** made, size_t size) {
  return ((int (*)(address*, size_t))function("cuMemAlloc"))((address*)made, size);
}

int cudaMemcpy(void* to, const void* from, size_t count, int kind) {
  if (kind == 1)
    return ((int (*)(address, const void*, size_t))function("cuMemcpyHtoD"))((address)to, from,
                                                                             count);
  return ((int (*)(void*, address, size_t))function("cuMemcpyDtoH"))(to, (address)from, count);
}

int cudaMemcpyAsync(void* to, const void* from, size_t count, int kind, void* stream) {
  if (kind < 0 || kind > 4) return 21; /* cudaErrorInvalidMemcpyDirection */
  return ((int (*)(address, const void*, size_t, void*))function("cuMemcpyHtoDAsync"))(
      (address)to, from, count, stream);
}
