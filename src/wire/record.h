/* SPDX-License-Identifier: MIT
   Records of a segment (docs/formats/spool.md, "Records"). */
#pragma once

#include <stdint.h>

/* The head: two bytes, kind and flags. */
#define FATHOM_KIND_BITS 11
#define FATHOM_KIND_MASK ((1u << FATHOM_KIND_BITS) - 1)
enum fathom_record_flag {
  FATHOM_FLAG_DEPTH = 1u << 11, /* depth byte follows; else as the record before */
  FATHOM_FLAG_SAME =
      1u << 12, /* fd and file as in the last record that had them: both are left out */
  FATHOM_FLAG_FULL = 1u << 13,      /* ret equals size and is left out */
  FATHOM_FLAG_ERROR = 1u << 14,     /* the call failed: errno follows, ret is left out (it is the
                                       schema's failure value) */
  FATHOM_FLAG_ELSEWHERE = 1u << 15, /* somebody else may have moved the file's position since the
                                       last call by this descriptor */
};

/* Kinds that the format itself knows. Those of the sources start at FATHOM_KIND_FIRST and stand in
 * the schema. */
enum fathom_kind {
  FATHOM_KIND_NONE = 0,
  FATHOM_KIND_SWITCH = 1, /* a thread begins to write here */
  FATHOM_KIND_STRING = 2,
  FATHOM_KIND_PATH = 3,
  FATHOM_KIND_SITE = 4,
  FATHOM_KIND_FUNCTION_SITE = 5,
  FATHOM_KIND_PROCESS = 6,
  FATHOM_KIND_META = 7,
  FATHOM_KIND_ARG_INT = 8,
  FATHOM_KIND_ARG_UINT = 9,
  FATHOM_KIND_ARG_DOUBLE = 10,
  FATHOM_KIND_ARG_TEXT = 11,
  FATHOM_KIND_REGION = 12,
  FATHOM_KIND_INSTANT = 13,
  FATHOM_KIND_COUNTER_INT = 14,
  FATHOM_KIND_COUNTER_DOUBLE = 15,
  FATHOM_KIND_THREAD_NAME = 16,
  FATHOM_KIND_THREAD_END = 17,
  FATHOM_KIND_PROCESS_END = 18,
  FATHOM_KIND_EXEC = 19,
  FATHOM_KIND_EXEC_FAILED = 20,
  FATHOM_KIND_WAITED = 21,
  FATHOM_KIND_SUMS = 22, /* calls of one kind, added up */
  FATHOM_KIND_FIRST = 32,
};

/* EXEC flags */
enum { FATHOM_EXEC_WITHOUT_LIBRARY = 1 }; /* the new environment does not preload us; wire/exec.h */

/* How a process came to be recorded (PROCESS). */
enum {
  FATHOM_ATTACH_PRELOAD = 1,
  FATHOM_ATTACH_LATE = 2,
  FATHOM_ATTACH_FORK = 3,
  FATHOM_ATTACH_SHARES =
      4, /* it shares its parent's memory (vfork, clone): all ids are its parent's */
};

/* What a thread's calls of one kind came to in one interval, so far: its thread adds to it where it
   lies, until it leaves the segment or the interval is over. Words of eight bytes, each at a
   multiple of eight, so that readers of a segment that is written find old or new ones, and none
   that is half of each. */
#define FATHOM_SUMS_BUCKETS 40
struct fathom_sums {
  uint64_t begin_ns; /* the interval, since the start of the run */
  uint64_t width_ns;
  uint64_t last_end; /* tick */
  uint64_t errors;
  uint64_t bytes;
  uint64_t ticks; /* of all calls together, of the shortest, of the longest */
  uint64_t least;
  uint64_t most;
  uint64_t
      hist[FATHOM_SUMS_BUCKETS]; /* calls of 2^i ns and less than 2^(i+1); the last: and more */
};
