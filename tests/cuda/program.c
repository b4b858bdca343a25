/* SPDX-License-Identifier: MIT
   A program that uses the CUDA driver, in any way in which programs come to its functions. It knows
   no SDK: prototypes are those of the driver's manual. Runs on the fake driver and on a real GPU.

   usage: program STYLE WHAT [N]
   STYLE  linked | dlsym | global | resolver | resolver1 | per-thread
   WHAT   work     every kind of call, in known numbers
          threads  N threads, each with 100 copies of sizes of its own
          fork     the parent's child, which begins afresh, works too
          workers  N children of a process that has worked, which launch; and one that does not
          newer    a copy by a function that no hook is for, and calls after it
          graphs   graphs that make memory, and one that is updated, in known numbers
          own      the same on stream 0
          burst    N launches
          cost     N launches, and the time of each: printed as ns
          device   the same and a graph of 100 kernels, while cuProfilerStart holds and after
   cuProfilerStop switch   N launches, as many after cuProfilerStop, as many after cuProfilerStart
          waves    N launches in each of 4 threads, on streams of their own
          leave    N launches, and _exit
          loop     N allocations that are freed again
          contexts a launch in one of two contexts in turn, N times, and one in each of N others
   Prints lines `key value`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef void* handle;
typedef uint64_t address;

static const char kPtx[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry _Z7nothingi(.param .u32 "
    "x)\n{\n ret;\n}\n";

#define FUNCTIONS(F)                                                                               \
  F(cuProfilerStart, cuProfilerStart, 4000, (void))                                                \
  F(cuProfilerStop, cuProfilerStop, 4000, (void))                                                  \
  F(cuInit, cuInit, 2000, (unsigned))                                                              \
  F(cuDeviceGet, cuDeviceGet, 2000, (int*, int))                                                   \
  F(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, 7000, (handle*, int))                      \
  F(cuCtxSetCurrent, cuCtxSetCurrent, 4000, (handle))                                              \
  F(cuCtxCreate, cuCtxCreate_v2, 3020, (handle*, unsigned, int))                                   \
  F(cuCtxDestroy, cuCtxDestroy_v2, 4000, (handle))                                                 \
  F(cuModuleLoadData, cuModuleLoadData, 2000, (handle*, const void*))                              \
  F(cuModuleGetFunction, cuModuleGetFunction, 2000, (handle*, handle, const char*))                \
  F(cuModuleUnload, cuModuleUnload, 2000, (handle))                                                \
  F(cuLaunchKernel, cuLaunchKernel, 4000,                                                          \
    (handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle, void**, \
     void**))                                                                                      \
  F(cuLaunchKernelEx, cuLaunchKernelEx, 11060, (const void*, handle, void**, void**))              \
  F(cuMemAlloc, cuMemAlloc_v2, 3020, (address*, size_t))                                           \
  F(cuMemFree, cuMemFree_v2, 3020, (address))                                                      \
  F(cuMemAllocManaged, cuMemAllocManaged, 6000, (address*, size_t, unsigned))                      \
  F(cuMemHostAlloc, cuMemHostAlloc, 2020, (void**, size_t, unsigned))                              \
  F(cuMemFreeHost, cuMemFreeHost, 2000, (void*))                                                   \
  F(cuMemAllocAsync, cuMemAllocAsync, 11020, (address*, size_t, handle))                           \
  F(cuMemFreeAsync, cuMemFreeAsync, 11020, (address, handle))                                      \
  F(cuMemcpyHtoD, cuMemcpyHtoD_v2, 3020, (address, const void*, size_t))                           \
  F(cuMemcpyDtoH, cuMemcpyDtoH_v2, 3020, (void*, address, size_t))                                 \
  F(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, 3020, (address, const void*, size_t, handle))         \
  F(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, 3020, (address, address, size_t, handle))             \
  F(cuMemcpyAsync, cuMemcpyAsync, 4000, (address, address, size_t, handle))                        \
  F(cuMemcpy2D, cuMemcpy2D_v2, 3020, (const void*))                                                \
  F(cuMemsetD32, cuMemsetD32_v2, 3020, (address, unsigned, size_t))                                \
  F(cuMemsetD2D8Async, cuMemsetD2D8Async, 3020,                                                    \
    (address, size_t, unsigned char, size_t, size_t, handle))                                      \
  F(cuStreamCreate, cuStreamCreate, 2000, (handle*, unsigned))                                     \
  F(cuStreamDestroy, cuStreamDestroy_v2, 4000, (handle))                                           \
  F(cuStreamSynchronize, cuStreamSynchronize, 2000, (handle))                                      \
  F(cuCtxSynchronize, cuCtxSynchronize, 2000, (void))                                              \
  F(cuStreamBeginCapture, cuStreamBeginCapture_v2, 10010, (handle, int))                           \
  F(cuStreamEndCapture, cuStreamEndCapture, 10000, (handle, handle*))                              \
  F(cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags, 11040,                               \
    (handle*, handle, unsigned long long))                                                         \
  F(cuGraphExecUpdate, cuGraphExecUpdate_v2, 12000, (handle, handle, void*))                       \
  F(cuGraphLaunch, cuGraphLaunch, 10000, (handle, handle))                                         \
  F(cuGraphExecDestroy, cuGraphExecDestroy, 10000, (handle))

#define DECLARE(name, symbol, version, parameters) \
  static int(*name) parameters __asm__("our_" #name);
FUNCTIONS(DECLARE)
#ifdef LINKED
#define EXTERN(name, symbol, version, parameters) \
  extern int linked_##name parameters __asm__(#symbol);
FUNCTIONS(EXTERN)
#endif

static void must(const char* what, int result) {
  if (result == 0) return;
  fprintf(stderr, "%s: %d\n", what, result);
  exit(1);
}
#define MUST(call) must(#call, call)

static void* driver(void) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    puts("driver none");
    exit(0);
  }
  return library;
}

static void bind_by_dlsym(void* library) {
#define BIND(name, symbol, version, parameters) *(void**)&name = dlsym(library, #symbol);
  FUNCTIONS(BIND)
}

typedef int (*resolver1)(const char*, void**, int, uint64_t);
typedef int (*resolver2)(const char*, void**, int, uint64_t, int*);

static void bind_by_resolver(int generation, uint64_t flags) {
  void* library = driver();
  resolver1 old = (resolver1)dlsym(library, "cuGetProcAddress");
  resolver2 new = (resolver2)dlsym(library, "cuGetProcAddress_v2");
#define ASK(name, symbol, version, parameters)                                 \
  must("look-up of " #name,                                                    \
       generation == 1                                                         \
           ? old(#name, (void**)&name, version < 7000 ? 7000 : version, flags) \
           : new (#name, (void**)&name, version < 7000 ? 7000 : version, flags, NULL));
  FUNCTIONS(ASK)
}

static void bind_functions(const char* style) {
  if (strcmp(style, "dlsym") == 0) {
    bind_by_dlsym(driver());
  } else if (strcmp(style, "resolver") == 0) {
    bind_by_resolver(2, 0);
  } else if (strcmp(style, "resolver1") == 0) {
    bind_by_resolver(1, 0);
  } else if (strcmp(style, "per-thread") == 0) {
    bind_by_resolver(2, 2);
  } else {
#ifdef LINKED
#define TAKE(name, symbol, version, parameters) name = linked_##name;
    FUNCTIONS(TAKE)
    if (strcmp(style, "global") == 0) bind_by_dlsym(RTLD_DEFAULT);
#else
    bind_by_dlsym(RTLD_DEFAULT);
    if (cuInit == NULL) {
      puts("driver none");
      exit(0);
    }
#endif
  }
}

static handle context, module, function;

static void begin(void) {
  int device = 0;
  MUST(cuInit(0));
  MUST(cuDeviceGet(&device, 0));
  MUST(cuDevicePrimaryCtxRetain(&context, device));
  MUST(cuCtxSetCurrent(context));
  MUST(cuModuleLoadData(&module, kPtx));
  MUST(cuModuleGetFunction(&function, module, "_Z7nothingi"));
}

static int parameter = 7;
static void* parameters[] = {&parameter};

static void launch(handle stream) {
  MUST(cuLaunchKernel(function, 4, 2, 1, 64, 1, 1, 1024, stream, parameters, NULL));
}

/* Memory: 1 MiB that is freed, 64 KiB of a pool, 4 KiB of the host, 8 KiB that stay. */
static void use_memory(handle stream) {
  address big, managed, pooled, refused;
  void* host;
  MUST(cuMemAlloc(&big, 1 << 20));
  MUST(cuMemAllocManaged(&managed, 8192, 1));
  MUST(cuMemHostAlloc(&host, 4096, 0));
  MUST(cuMemAllocAsync(&pooled, 65536, stream));
  printf("refused %d\n", cuMemAlloc(&refused, (size_t)1 << 50));
  MUST(cuMemFree(0));
  MUST(cuMemsetD32(big, 5, 256));
  MUST(cuMemsetD2D8Async(big, 512, 5, 100, 10, stream));
  MUST(cuMemFreeAsync(pooled, stream));
  MUST(cuMemFreeHost(host));
  MUST(cuMemFree(big));
}

static void use_copies(handle stream) {
  static char host[65536];
  address there, other;
  MUST(cuMemAlloc(&there, 65536));
  MUST(cuMemAlloc(&other, 65536));
  MUST(cuMemcpyHtoD(there, host, 1000));
  MUST(cuMemcpyDtoH(host, there, 2000));
  MUST(cuMemcpyHtoDAsync(there, host, 3000, stream));
  MUST(cuMemcpyDtoDAsync(other, there, 4000, stream));
  MUST(cuMemcpyAsync((address)(uintptr_t)host, there, 5000, stream));
  uint64_t plane[16] = {0};            /* CUDA_MEMCPY2D */
  *(uint32_t*)((char*)plane + 16) = 1; /* from the host */
  plane[3] = (uintptr_t)host;
  plane[6] = 128;
  *(uint32_t*)((char*)plane + 72) = 2; /* to the device */
  plane[11] = there;
  plane[13] = 128;
  plane[14] = 100;
  plane[15] = 6;
  MUST(cuMemcpy2D(plane));
  MUST(cuMemFree(there));
  MUST(cuMemFree(other));
}

static void use_graph(handle stream) {
  static char host[4096];
  handle graph, made;
  address there;
  MUST(cuMemAlloc(&there, 4096));
  MUST(cuStreamBeginCapture(stream, 0));
  launch(stream);
  launch(stream);
  MUST(cuMemcpyHtoDAsync(there, host, 700, stream));
  MUST(cuStreamEndCapture(stream, &graph));
  MUST(cuGraphInstantiateWithFlags(&made, graph, 0));
  for (int i = 0; i < 3; i++) MUST(cuGraphLaunch(made, stream));
  MUST(cuStreamSynchronize(stream));
  MUST(cuGraphExecDestroy(made));
  MUST(cuMemFree(there));
}

/* A graph of an allocation that stays and, where `passing` is not 0, of one that is freed in it. */
static handle capture_memory(handle stream, address* stays, size_t size, size_t passing) {
  handle graph;
  address passes;
  MUST(cuStreamBeginCapture(stream, 0));
  MUST(cuMemAllocAsync(stays, size, stream));
  if (passing != 0) MUST(cuMemAllocAsync(&passes, passing, stream));
  if (passing != 0) MUST(cuMemFreeAsync(passes, stream));
  MUST(cuStreamEndCapture(stream, &graph));
  return graph;
}

static handle ready(handle graph, unsigned long long flags) {
  handle made;
  MUST(cuGraphInstantiateWithFlags(&made, graph, flags));
  return made;
}

static handle capture_copy(handle stream, address there, size_t size) {
  static char host[4096];
  handle graph;
  MUST(cuStreamBeginCapture(stream, 0));
  MUST(cuMemcpyHtoDAsync(there, host, size, stream));
  MUST(cuStreamEndCapture(stream, &graph));
  return graph;
}

/* 1 MiB that is there three times, freed in three ways; 2 MiB that the graph gives back itself at
   its next launch, and that another graph gives back; 5 MiB that stay, of a graph that is updated
   to them. */
static void use_graph_memory(handle stream) {
  const size_t mega = 1 << 20;
  uint64_t result[16];
  address stays, other, there;
  handle graph, made = ready(capture_memory(stream, &stays, mega, 3 * mega), 0);
  MUST(cuGraphLaunch(made, stream));
  printf("relaunched %d\n", cuGraphLaunch(made, stream));
  MUST(cuMemFree(stays));
  MUST(cuGraphLaunch(made, stream));
  MUST(cuMemFreeAsync(stays, stream));
  MUST(cuGraphLaunch(made, stream));
  MUST(cuGraphExecDestroy(made));
  MUST(cuMemFree(stays));
  made = ready(capture_memory(stream, &stays, 2 * mega, 0), 1);
  MUST(cuGraphLaunch(made, stream));
  MUST(cuGraphLaunch(made, stream));
  MUST(cuStreamBeginCapture(stream, 0));
  MUST(cuMemFreeAsync(stays, stream));
  MUST(cuStreamEndCapture(stream, &graph));
  MUST(cuGraphLaunch(ready(graph, 0), stream));
  MUST(cuGraphExecUpdate(made, capture_memory(stream, &other, 5 * mega, 0), result));
  MUST(cuGraphLaunch(made, stream));
  MUST(cuMemAlloc(&there, 4096));
  made = ready(capture_copy(stream, there, 700), 0);
  MUST(cuGraphLaunch(made, stream));
  MUST(cuGraphExecUpdate(made, capture_copy(stream, there, 900), result));
  MUST(cuGraphLaunch(made, stream));
  printf("update %d\n", cuGraphExecUpdate(made, graph, result));
  MUST(cuGraphLaunch(made, stream));
  MUST(cuStreamSynchronize(stream));
}

struct config {
  unsigned grid[3], block[3], shared;
  handle stream;
  void* attributes;
  unsigned count;
};

static void work(void) {
  handle stream;
  MUST(cuStreamCreate(&stream, 0));
  for (int i = 0; i < 5; i++) launch(stream);
  launch(NULL);
  const struct config config = {{3, 1, 1}, {32, 1, 1}, 0, stream, NULL, 0};
  MUST(cuLaunchKernelEx(&config, function, parameters, NULL));
  use_memory(stream);
  use_copies(stream);
  use_graph(stream);
  MUST(cuStreamSynchronize(stream));
  MUST(cuCtxSynchronize());
  MUST(cuStreamDestroy(stream));
  MUST(cuModuleUnload(module));
}

static void* copy_many(void* number) {
  static char host[65536];
  address there;
  MUST(cuCtxSetCurrent(context));
  MUST(cuMemAlloc(&there, 65536));
  for (int i = 0; i < 100; i++) MUST(cuMemcpyHtoD(there, host, 100 + (size_t)(uintptr_t)number));
  MUST(cuMemFree(there));
  return NULL;
}

static void threads(int count) {
  pthread_t all[256];
  if (count > 256) count = 256;
  for (int i = 0; i < count; i++) pthread_create(&all[i], NULL, copy_many, (void*)(uintptr_t)i);
  for (int i = 0; i < count; i++) pthread_join(all[i], NULL);
}

static int compare(const void* a, const void* b) {
  const double difference = *(const double*)a - *(const double*)b;
  return difference < 0 ? -1 : difference > 0;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* The median of seven rounds. */
static void cost(int count) {
  double rounds[7];
  for (int round = 0; round < 7; round++) {
    const double from = now();
    for (int i = 0; i < count; i++) launch(NULL);
    rounds[round] = (now() - from) / count;
    MUST(cuCtxSynchronize());
  }
  qsort(rounds, 7, sizeof *rounds, compare);
  printf("ns %.1f\n", rounds[3]);
}

static double per_launch(int count) {
  const double from = now();
  for (int i = 0; i < count; i++) launch(NULL);
  const double took = (now() - from) / count;
  MUST(cuCtxSynchronize());
  return took;
}

static double per_replay(handle made, handle stream) {
  const double from = now();
  for (int i = 0; i < 200; i++) MUST(cuGraphLaunch(made, stream));
  MUST(cuStreamSynchronize(stream));
  return (now() - from) / 200;
}

/* Seven rounds, each with what cuProfilerStart switches on and without. */
static void device(int count) {
  handle stream, graph, made;
  MUST(cuStreamCreate(&stream, 0));
  MUST(cuStreamBeginCapture(stream, 0));
  for (int i = 0; i < 100; i++) launch(stream);
  MUST(cuStreamEndCapture(stream, &graph));
  MUST(cuGraphInstantiateWithFlags(&made, graph, 0));
  per_launch(count);
  per_replay(made, stream);
  for (int round = 0; round < 7; round++) {
    MUST(cuProfilerStart());
    per_launch(count / 10);
    printf("started launch %.1f", per_launch(count));
    printf(" replay %.1f", per_replay(made, stream));
    MUST(cuProfilerStop());
    per_launch(count / 10);
    printf(" stopped launch %.1f", per_launch(count));
    printf(" replay %.1f\n", per_replay(made, stream));
  }
}

static void switch_off_and_on(int count) {
  for (int part = 0; part < 3; part++) {
    for (int i = 0; i < count; i++) launch(NULL);
    MUST(cuCtxSynchronize());
    MUST(part == 0 ? cuProfilerStop() : cuProfilerStart());
  }
}

static void* launch_many(void* count) {
  handle stream;
  MUST(cuCtxSetCurrent(context));
  MUST(cuStreamCreate(&stream, 1));
  for (uintptr_t i = 0; i < (uintptr_t)count; i++) launch(stream);
  MUST(cuStreamSynchronize(stream));
  return NULL;
}

static void waves(int count) {
  pthread_t all[4];
  for (int i = 0; i < 4; i++) pthread_create(&all[i], NULL, launch_many, (void*)(uintptr_t)count);
  for (int i = 0; i < 4; i++) pthread_join(all[i], NULL);
}

/* A real driver refuses whatever such a child asks for. */
static void workers(int count) {
  launch(NULL);
  MUST(cuCtxSynchronize());
  for (int i = 0; i <= count; i++) {
    const pid_t child = fork();
    if (child > 0) waitpid(child, NULL, 0);
    if (child != 0) continue;
    for (int k = 0; k < 3 && i < count; k++)
      cuLaunchKernel(function, 4, 2, 1, 64, 1, 1, 1024, NULL, parameters, NULL);
    exit(0);
  }
}

static handle launch_in(handle of) {
  handle code, kernel;
  MUST(cuCtxSetCurrent(of));
  MUST(cuModuleLoadData(&code, kPtx));
  MUST(cuModuleGetFunction(&kernel, code, "_Z7nothingi"));
  MUST(cuLaunchKernel(kernel, 4, 2, 1, 64, 1, 1, 1024, NULL, parameters, NULL));
  MUST(cuCtxSynchronize());
  return code;
}

static void contexts(int count) {
  handle other, brief;
  MUST(cuCtxCreate(&other, 0, 0));
  for (int i = 0; i < count; i++) MUST(cuModuleUnload(launch_in(i % 2 == 0 ? context : other)));
  for (int i = 0; i < count; i++) {
    MUST(cuCtxCreate(&brief, 0, 0));
    launch_in(brief);
    MUST(cuCtxDestroy(brief));
  }
  MUST(cuCtxSetCurrent(context));
}

static void copy_newer(void) {
  int (*copy)(address, address, size_t, const void*, handle);
  static char host[4096];
  address there;
  handle stream;
  *(void**)&copy = dlsym(driver(), "cuMemcpyWithAttributesAsync");
  MUST(cuMemAlloc(&there, 4096));
  MUST(cuStreamCreate(&stream, 0));
  MUST(copy(there, (address)(uintptr_t)host, 321, NULL, stream));
  MUST(cuStreamDestroy(stream));
  launch(NULL);
  MUST(cuCtxSynchronize());
}

int main(int argc, char** argv) {
  const char* what = argc > 2 ? argv[2] : "work";
  const int number = argc > 3 ? atoi(argv[3]) : 8;
  if (argc < 2) return 2;
  pid_t child = 0;
  if (strcmp(what, "fork") == 0) child = fork();
  bind_functions(argv[1]);
  begin();
  if (strcmp(what, "threads") == 0) {
    threads(number);
  } else if (strcmp(what, "graphs") == 0 || strcmp(what, "own") == 0) {
    handle stream = NULL;
    if (what[0] == 'g') MUST(cuStreamCreate(&stream, 0));
    use_graph_memory(stream);
  } else if (strcmp(what, "workers") == 0) {
    workers(number);
  } else if (strcmp(what, "newer") == 0) {
    copy_newer();
  } else if (strcmp(what, "burst") == 0) {
    for (int i = 0; i < number; i++) launch(NULL);
    MUST(cuCtxSynchronize());
  } else if (strcmp(what, "cost") == 0) {
    cost(number);
  } else if (strcmp(what, "device") == 0) {
    device(number);
  } else if (strcmp(what, "switch") == 0) {
    switch_off_and_on(number);
  } else if (strcmp(what, "waves") == 0) {
    waves(number);
  } else if (strcmp(what, "contexts") == 0) {
    contexts(number);
  } else if (strcmp(what, "leave") == 0) {
    for (int i = 0; i < number; i++) launch(NULL);
    MUST(cuCtxSynchronize());
    _exit(0);
  } else if (strcmp(what, "loop") == 0) {
    address there;
    for (int i = 0; i < number; i++) {
      MUST(cuMemAlloc(&there, 4096));
      MUST(cuMemFree(there));
    }
  } else {
    work();
  }
  if (child > 0) waitpid(child, NULL, 0);
  return 0;
}
