/* SPDX-License-Identifier: MIT
   A program that tells its ranges by NVTX, by declarations of its own: what the headers do, which
   programs include. Twice, as two libraries of a program would have it, each with tables of its
   own.

   usage: nvtx_program [deep]   Prints what the functions returned. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

typedef void (*function)(void);
typedef void* handle;

struct attributes {
  uint16_t version, size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type, reserved;
  union {
    uint64_t whole;
    double real;
  } payload;
  int32_t message_type;
  const void* message;
};

/* --- the headers' half */
struct nvtx {
  function core[16], core2[16];
  function *core_table[17], *core2_table[17];
};
static struct nvtx copies[2], *current;

static int table_of(int module, function*** table, unsigned* size) {
  if (module != 1 && module != 5) return 0;
  *table = module == 1 ? current->core_table : current->core2_table;
  *size = 16;
  return 1;
}
static const struct {
  size_t size;
  int (*table)(int, function***, unsigned*);
} callbacks = {sizeof callbacks, table_of};
static const void* export_table(uint32_t id) { return id == 1 ? &callbacks : NULL; }

static int begin(struct nvtx* copy) {
  const char* path = getenv("NVTX_INJECTION64_PATH");
  current = copy;
  for (int i = 0; i < 16; i++) {
    copy->core_table[i] = &copy->core[i];
    copy->core2_table[i] = &copy->core2[i];
  }
  void* library = path != NULL ? dlopen(path, RTLD_LAZY) : NULL;
  if (library == NULL) return 0;
  int (*start)(const void* (*)(uint32_t)) =
      (int (*)(const void* (*)(uint32_t)))dlsym(library, "InitializeInjectionNvtx2");
  return start != NULL ? start(export_table) : 0;
}

/* --- the program's */
#define N (&copies[0])
#define push(text) ((int (*)(const char*))N->core[9])(text)
#define pop() ((int (*)(void))N->core[11])()
#define domain_push(domain, event) \
  ((int (*)(handle, const struct attributes*))N->core2[4])(domain, event)
#define domain_pop(domain) ((int (*)(handle))N->core2[5])(domain)

static struct attributes event_of(int type, const void* message) {
  struct attributes event = {3, sizeof event, 0, 0, 0, 0, 0, {0}, type, message};
  return event;
}

static void nest(void) {
  const int levels[] = {push("outer"), push("inner"), pop(), pop(), pop()};
  printf("levels %d %d %d %d %d\n", levels[0], levels[1], levels[2], levels[3], levels[4]);
}

static void domains(void) {
  handle domain = ((handle(*)(const char*))N->core2[12])("loader");
  handle again = ((handle(*)(const wchar_t*))N->core2[13])(L"loader");
  handle text = ((handle(*)(handle, const char*))N->core2[10])(domain, "batch");
  ((void (*)(handle, uint32_t, const char*))N->core2[8])(domain, 7, "input");
  struct attributes event = event_of(3, text);
  event.category = 7;
  event.payload_type = 1;
  event.payload.whole = 42;
  printf("same domain %d\n", domain == again);
  /* Ranges of two domains that overlap. */
  domain_push(domain, &event);
  push("compute");
  domain_pop(domain);
  pop();
  struct attributes wide = event_of(2, L"gr\u00f6\u00dfe");
  wide.category = 9;
  wide.payload_type = 3;
  wide.payload.real = 1.5;
  domain_push(NULL, &wide);
  domain_pop(NULL);
  ((void (*)(handle, const struct attributes*))N->core2[1])(domain, &event);
  ((void (*)(const char*))N->core[2])("here");
}

static uint64_t started;
static void* end_elsewhere(void* nothing) {
  push("in a thread");
  pop();
  ((void (*)(uint64_t))N->core[7])(started);
  return nothing;
}

static void process_ranges(void) {
  pthread_t thread;
  const uint64_t own = ((uint64_t(*)(const char*))N->core[5])("own");
  ((void (*)(uint64_t))N->core[7])(own);
  ((void (*)(uint64_t))N->core[7])(own); /* no more */
  started = ((uint64_t(*)(const char*))N->core[5])("handed over");
  pthread_create(&thread, NULL, end_elsewhere, NULL);
  pthread_join(thread, NULL);
  printf("different %d\n", own != 0 && started != 0 && own != started);
}

int main(int argc, char** argv) {
  const int ready = begin(&copies[0]);
  printf("ready %d %d\n", ready, begin(&copies[1]));
  if (!ready) return 0;
  ((int (*)(const char*))copies[1].core[9])("by the other copy");
  if (access("/", R_OK) != 0) return 1;
  pop();
  if (argc > 1 && strcmp(argv[1], "deep") == 0) {
    for (int i = 0; i < 5000; i++) push("deep");
    for (int i = 0; i < 5000; i++) pop();
    for (int i = 0; i < 5000; i++) {
      char name[32];
      snprintf(name, sizeof name, "step %d", i);
      push(name);
      pop();
    }
    return 0;
  }
  nest();
  domains();
  process_ranges();
  return 0;
}
