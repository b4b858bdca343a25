/* SPDX-License-Identifier: MIT
   What a CUDA driver answers: which function each name of standard input is at each version and
   with each flag, how streams are numbered, and what the questions cost that the hooks ask. The
   fake driver of tests/cuda is held against this. usage: answers <names >answers.tsv */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef int (*resolver)(const char*, void**, int, uint64_t, int*);
static void* library;

struct answer {
  int result, status;
  char symbol[96];
};

static struct answer answer(resolver ask, const char* name, int version, uint64_t flags) {
  struct answer told = {0, -1, "-"};
  void* function = (void*)-1;
  Dl_info info = {0};
  told.result = ask(name, &function, version, flags, &told.status);
  if (function == NULL) strcpy(told.symbol, "NULL");
  if (function != NULL && function != (void*)-1 && dladdr(function, &info) != 0 &&
      info.dli_sname != NULL)
    snprintf(told.symbol, sizeof told.symbol, "%s", info.dli_sname);
  return told;
}

/* A line for each version at which the answer becomes another. */
static void answers(resolver ask, const char* name, uint64_t flags) {
  static const int kVersions[] = {0,     2000,  2010,  2020,  3000,  3010,  3020,  4000,  4010,
                                  4020,  5000,  5050,  6000,  6050,  7000,  7050,  8000,  9000,
                                  9010,  9020,  10000, 10010, 10020, 11000, 11010, 11020, 11030,
                                  11040, 11050, 11060, 11070, 11080, 12000, 12010, 12020, 12030,
                                  12040, 12050, 12060, 12080, 12090, 13000};
  struct answer before = {0, -1, "none yet"};
  for (size_t version = 0; version < sizeof kVersions / sizeof *kVersions; version++) {
    const struct answer now = answer(ask, name, kVersions[version], flags);
    if (strcmp(now.symbol, before.symbol) != 0 || now.status != before.status ||
        now.result != before.result)
      printf("look-up\t%s\t%d\t%d\t%d\t%d\t%s\n", name, (int)flags, kVersions[version], now.result,
             now.status, now.symbol);
    before = now;
  }
}

/* What nobody has, with and without a place for the status, and by the older function. */
static void odd_questions(resolver ask) {
  int (*older)(const char*, void**, int, uint64_t) = dlsym(library, "cuGetProcAddress");
  static const char* const kNames[] = {"", "cuNoSuchFunction", "cuInit", "cuMemcpyBatchAsync"};
  for (size_t i = 0; i < sizeof kNames / sizeof *kNames; i++) {
    void *first = (void*)-1, *second = (void*)-1;
    const int with_null = ask(kNames[i], &first, 11030, 0, NULL);
    const int by_older = older(kNames[i], &second, 11030, 0);
    printf("odd\t'%s' at 11030\twithout a status %d %s\tby the older function %d %s\n", kNames[i],
           with_null,
           first == NULL        ? "NULL"
           : first == (void*)-1 ? "untouched"
                                : "a function",
           by_older,
           second == NULL        ? "NULL"
           : second == (void*)-1 ? "untouched"
                                 : "a function");
  }
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

#define COST(what, call)                                          \
  do {                                                            \
    const double from = now();                                    \
    for (int i = 0; i < 100000; i++) call;                        \
    printf("cost\t%s\t%.1f ns\n", what, (now() - from) / 100000); \
  } while (0)

static void* function_of(const char* symbol) { return dlsym(library, symbol); }

static void ask_streams(void) {
  int (*init)(unsigned) = function_of("cuInit");
  int (*retain)(void**, int) = function_of("cuDevicePrimaryCtxRetain");
  int (*set)(void*) = function_of("cuCtxSetCurrent");
  int (*get)(void**) = function_of("cuCtxGetCurrent");
  int (*device)(int*) = function_of("cuCtxGetDevice");
  int (*create)(void**, unsigned) = function_of("cuStreamCreate");
  int (*destroy)(void*) = function_of("cuStreamDestroy_v2");
  int (*number)(void*, uint64_t*) = function_of("cuStreamGetId");
  int (*capturing)(void*, int*) = function_of("cuStreamIsCapturing");
  int (*pointer)(void*, int, uint64_t) = function_of("cuPointerGetAttribute");
  int (*make)(uint64_t*, size_t) = function_of("cuMemAlloc_v2");
  void *context = NULL, *streams[4] = {0};
  int where = -1, status = 0;
  unsigned type = 0;
  uint64_t id = 0, memory = 0;
  init(0);
  printf("before a context\tcuCtxGetCurrent %d\tcuCtxGetDevice %d\n", get(&context),
         device(&where));
  retain(&context, 0);
  set(context);
  make(&memory, 4096);
  for (uintptr_t special = 0; special < 3; special++) {
    const int result = number((void*)special, &id);
    printf("stream\tspecial %d\tresult %d\tid %llu\n", (int)special, result,
           (unsigned long long)id);
  }
  for (int i = 0; i < 4; i++) {
    create(&streams[i], 0);
    number(streams[i], &id);
    printf("stream\thandle %p\tid %llu\n", streams[i], (unsigned long long)id);
    if (i == 1) destroy(streams[1]);
  }
  COST("cuCtxGetCurrent", get(&context));
  COST("cuCtxGetDevice", device(&where));
  COST("cuStreamGetId", number(streams[0], &id));
  COST("cuStreamIsCapturing", capturing(streams[0], &status));
  COST("cuPointerGetAttribute of the device's", pointer(&type, 2, memory));
  COST("cuPointerGetAttribute of the heap's", pointer(&type, 2, (uint64_t)(uintptr_t)&id));
}

int main(void) {
  library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == NULL) return 1;
  resolver ask = function_of("cuGetProcAddress_v2");
  char name[128];
  odd_questions(ask);
  while (fgets(name, sizeof name, stdin) != NULL) {
    name[strcspn(name, "\n")] = 0;
    answers(ask, name, 0);
    answers(ask, name, 2);
  }
  ask_streams();
  return 0;
}
