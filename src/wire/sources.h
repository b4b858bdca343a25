/* SPDX-License-Identifier: MIT
   The table of the in-process sources. A new one is a row here and files of its own in
   src/sources/ (CONTRIBUTING.md): its number, its counters, its range of kinds, its hooks, its
   layer and the words of its losses come from the row. Plain C, for guest and host alike. */
#pragma once

/* What a source brings into the library. */
enum {
  FATHOM_BRINGS_HOOKS = 1,   /* fathom::guest::SPACE::kBindings */
  FATHOM_BRINGS_ARRIVAL = 2, /* fathom::guest::SPACE::arrived(), called once after attach */
  FATHOM_BRINGS_CALLS = 4,   /* its kinds are calls, which FATHOM_CALLS chooses by name */
};

/* What a layer is. */
enum {
  FATHOM_LAYER_USUAL = 1,   /* recorded where nobody says otherwise */
  FATHOM_LAYER_CODE = 2,    /* the program's own code */
  FATHOM_LAYER_IO = 4,      /* the program's calls that read and write files */
  FATHOM_LAYER_KERNEL = 8,  /* what the kernel does */
  FATHOM_LAYER_DEVICE = 16, /* what a device does: its time is no thread's */
  FATHOM_LAYER_BESIDE = 32, /* its events overlap others of their thread, or belong to none */
};

/* ROW(number,       counters are found by it: it never changes, and the next source takes the next
       NAME, SPACE,  FATHOM_SOURCE_NAME; namespace of its code in fathom::guest and fathom::sources
       layer,        as FATHOM_LAYERS and --layers name it
       rank,         where the layer stands, top down (trace/rows/layers.h has the others')
       colour,       of the layer: Firefox's word or "-", #rrggbb on a light page and on a dark one
       what,         the layer holds
       first, kinds, the range of its kinds of events; 0, 0: it has none
       needs,        NAME of a source that is recorded along with it; RUNTIME: none
       flags, brings, FATHOM_LAYER_… of the layer, FATHOM_BRINGS_…
       unbound,      what FATHOM_LOSS_UNBOUND means to it; "": what it means to others
       unmatched)    the same of FATHOM_LOSS_UNMATCHED */
#define FATHOM_SOURCE_ROWS(ROW)                                                                    \
  ROW(1, APP, annotate, "app", 10, "blue #f0b429 #d99a00",                                         \
      "functions and regions that the program annotates", 0, 0, RUNTIME,                           \
      FATHOM_LAYER_USUAL | FATHOM_LAYER_CODE, FATHOM_BRINGS_HOOKS, "", "")                         \
  ROW(2, STDIO, stdio, "stdio", 30, "green #8bdcbf #93dcc3",                                       \
      "calls of stdio: fopen, fread, printf", 512, 256, RUNTIME,                                   \
      FATHOM_LAYER_USUAL | FATHOM_LAYER_IO, FATHOM_BRINGS_HOOKS | FATHOM_BRINGS_CALLS, "", "")     \
  ROW(3, POSIX, posix, "posix", 40, "orange #1fa67a #009e73",                                      \
      "calls of POSIX I/O and processes: open, read, fork", 32, 480, RUNTIME,                      \
      FATHOM_LAYER_USUAL | FATHOM_LAYER_IO, FATHOM_BRINGS_HOOKS | FATHOM_BRINGS_CALLS, "", "")     \
  ROW(4, PYTHON, python, "python", 20, "yellow #4f8fe0 #4a86d4", "Python functions", 768, 32,      \
      RUNTIME, FATHOM_LAYER_CODE, FATHOM_BRINGS_ARRIVAL,                                           \
      "not available in this Python version: loops before 3.12, C calls while the program "        \
      "profiles",                                                                                  \
      "")                                                                                          \
  ROW(5, HEAP, heap, "heap", 50, "purple #c99bd0 #a678b0", "memory allocations", 800, 64, RUNTIME, \
      0, FATHOM_BRINGS_HOOKS | FATHOM_BRINGS_ARRIVAL | FATHOM_BRINGS_CALLS, "", "")                \
  ROW(6, CUDA, cuda, "cuda", 140, "magenta #5fb34d #4f9f40", "calls of the CUDA driver", 1024,     \
      512, RUNTIME, 0, FATHOM_BRINGS_HOOKS | FATHOM_BRINGS_CALLS, "",                              \
      "memory that could not be accounted for")                                                    \
  ROW(7, GPU, gpu, "gpu", 150, "brown #cbdc5c #bfd04f", "what GPUs do", 1984, 64, CUDA,            \
      FATHOM_LAYER_DEVICE | FATHOM_LAYER_BESIDE, FATHOM_BRINGS_HOOKS,                              \
      "records that CUPTI had no room for", "work that had not ended when its times were taken")   \
  /* the next row goes above this line */

/* Kinds 0 to 31 are the format's own, and there are 2048 in all; what no row has is free, and the
   compiler refuses ranges that overlap (sources/in_process.guest.cc). */
enum {
#define ROW(number, NAME, space, layer, rank, colour, what, first, ...) \
  FATHOM_FIRST_##NAME##_KIND = first,
  FATHOM_SOURCE_ROWS(ROW)
#undef ROW
};
/* Source CUDA has a second range: CUDA's run-time library (sources/runtime_copies.guest.h). */
enum { FATHOM_FIRST_RUNTIME_KIND = 992, FATHOM_RUNTIME_KINDS = 32 };

enum fathom_source {
  FATHOM_SOURCE_RUNTIME = 0, /* the library itself */
#define ROW(number, NAME, ...) FATHOM_SOURCE_##NAME = number,
  FATHOM_SOURCE_ROWS(ROW)
#undef ROW
};

#define ROW(...) +1
enum { FATHOM_SOURCES = 1 FATHOM_SOURCE_ROWS(ROW) };
#undef ROW
