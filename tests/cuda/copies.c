/* SPDX-License-Identifier: MIT
   A library of a program with a run-time library inside whose symbols are seen: it calls them by
   their names, as such libraries do, and must get its own. */
#include <stddef.h>

int cudaMalloc(void**, size_t);
int cudaMemcpy(void*, const void*, size_t, int);
int cudaMemcpyAsync(void*, const void*, size_t, int, void*);

int own_cudaMalloc(void** made, size_t size) { return cudaMalloc(made, size) + 0; }
int own_cudaMemcpy(void* to, const void* from, size_t count, int kind) {
  const int result = cudaMemcpy(to, from, count, kind);
  return result;
}
int own_cudaMemcpyAsync(void* to, const void* from, size_t count, int kind, void* stream) {
  const int result = cudaMemcpyAsync(to, from, count, kind, stream);
  return result;
}
