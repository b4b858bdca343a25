// SPDX-License-Identifier: MIT
// cost WHAT TURNS THREADS: ns of thread CPU per turn of one kind of work. Run bare it gives the
// floor, run under a tracer the price.
//   floor   two counter reads and a 32-byte store into a ring: B
//   call    an empty function
//   region  an empty annotated region (nothing but a load and a branch when not recorded)
//   pread   pread of 4 KiB from a hot file       read64  fread of 64 bytes     stat   stat of that
//   file openclose  open and close of it              write   pwrite of 4 KiB
//   malloc  malloc of 64 bytes and free
#include <fathom/fathom.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cost.h"

static const char* path = "cost.data";

__attribute__((noinline)) static void empty(void) { __asm__ volatile(""); }

static void* make_ring(void) { return aligned_alloc(64, 65536); }

static void floor_loop(long turns, void* ring) {
  uint64_t *at = (uint64_t*)ring, *end = at + 65536 / 8;
  for (long i = 0; i < turns; i++) {
    const uint64_t begin = read_ticks();
    empty();
    at[0] = begin;
    at[1] = read_ticks();
    at[2] = (uint64_t)i;
    at[3] = 1;
    at += 4;
    if (at == end) at = (uint64_t*)ring;
    __asm__ volatile("" ::: "memory");
  }
}

static void call_loop(long turns, void* unused) {
  (void)unused;
  for (long i = 0; i < turns; i++) empty();
}

__attribute__((noinline)) static void region(void) {
  FATHOM_REGION("region");
  __asm__ volatile("");
}
static void region_loop(long turns, void* unused) {
  (void)unused;
  for (long i = 0; i < turns; i++) region();
}

struct file {
  int fd;
  FILE* stream;
  char buffer[4096];
};

static void* open_file(void) {
  struct file* file = (struct file*)malloc(sizeof *file);
  file->fd = open(path, O_RDWR | O_CREAT, 0600);
  memset(file->buffer, 1, sizeof file->buffer);
  struct stat facts;
  if (file->fd < 0 || fstat(file->fd, &facts) != 0) exit(3);
  for (int i = 0; facts.st_size < 1 << 20 && i < 256; i++)
    if (write(file->fd, file->buffer, 4096) != 4096) exit(3);
  file->stream = fopen(path, "r");
  return file;
}

static void pread_loop(long turns, void* own) {
  struct file* file = (struct file*)own;
  for (long i = 0; i < turns; i++)
    if (pread(file->fd, file->buffer, 4096, (i & 255) * 4096) != 4096) exit(3);
}
static void write_loop(long turns, void* own) {
  struct file* file = (struct file*)own;
  for (long i = 0; i < turns; i++)
    if (pwrite(file->fd, file->buffer, 4096, (i & 255) * 4096) != 4096) exit(3);
}
static void read64_loop(long turns, void* own) {
  struct file* file = (struct file*)own;
  for (long i = 0; i < turns; i++)
    if (fread(file->buffer, 1, 64, file->stream) != 64) rewind(file->stream);
}
static void stat_loop(long turns, void* unused) {
  struct stat facts;
  (void)unused;
  for (long i = 0; i < turns; i++)
    if (stat(path, &facts) != 0) exit(3);
}
static void openclose_loop(long turns, void* unused) {
  (void)unused;
  for (long i = 0; i < turns; i++)
    if (close(open(path, O_RDONLY)) != 0) exit(3);
}

static void malloc_loop(long turns, void* unused) {
  (void)unused;
  for (long i = 0; i < turns; i++) {
    void* memory = malloc(64);
    __asm__ volatile("" : "+r"(memory)::"memory");
    free(memory);
  }
}

// About 20 MB/s: bursts of 2500 records of 8 bytes each millisecond.
static void stall(double seconds, int control) {
  enum { BURST = 2500, RECORD = 8 };
  const double ticks_per_us = ticks_per_second() / 1e6;
  const size_t room = (size_t)(seconds * 1000 + 2) * BURST * RECORD;
  char* memory =
      control ? (char*)mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
              : NULL;
  if (memory == MAP_FAILED) exit(3);
  const uint64_t begin = read_ticks();
  uint64_t longest = 0;
  long slow = 0, written = 0;
  for (long burst = 0; (double)(read_ticks() - begin) < seconds * 1e6 * ticks_per_us; burst++) {
    for (int i = 0; i < BURST; i++) {
      const uint64_t before = read_ticks();
      if (control && (size_t)written + RECORD <= room) {
        memcpy(memory + written, &before, RECORD);
        written += RECORD;
      } else if (!control) {
        region();
      }
      const uint64_t took = read_ticks() - before;
      if (took > longest) longest = took;
      slow += (double)took > 200 * ticks_per_us;
    }
    while ((double)(read_ticks() - begin) < (double)(burst + 1) * 1000 * ticks_per_us) usleep(100);
  }
  printf("%ld %.1f\n", slow, (double)longest / ticks_per_us);
}

static void memory(long turns, int threads) {
  FILE* status = fopen("/proc/self/status", "r");
  char line[200];
  measure(region_loop, NULL, turns, threads);
  while (status && fgets(line, sizeof line, status)) {
    long kib;
    if (sscanf(line, "VmHWM: %ld", &kib) == 1) printf("%ld\n", kib);
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*loop)(long, void*);
    void* (*prepare)(void);
  } kinds[] = {
      {"floor", floor_loop, make_ring}, {"call", call_loop, NULL},
      {"region", region_loop, NULL},    {"pread", pread_loop, open_file},
      {"write", write_loop, open_file}, {"read64", read64_loop, open_file},
      {"stat", stat_loop, open_file},   {"openclose", openclose_loop, open_file},
      {"malloc", malloc_loop, NULL},
  };
  if (argc != 4) return 2;
  if (strcmp(argv[1], "stall") == 0) return stall(atof(argv[2]), atoi(argv[3])), 0;
  if (strcmp(argv[1], "memory") == 0) return memory(atol(argv[2]), atoi(argv[3])), 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (strcmp(argv[1], kinds[i].name) != 0) continue;
    measure(kinds[i].loop, kinds[i].prepare, atol(argv[2]), atoi(argv[3]));
    return 0;
  }
  return 2;
}
