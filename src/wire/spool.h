/* SPDX-License-Identifier: MIT
   The files of a spool: run header, pools, segments (docs/formats/spool.md). Guest and host map the
   same bytes, so every field that both touch is read and written with __atomic builtins.
   Little-endian, 64-bit only. */
#pragma once

#include <stdint.h>

#include "wire/sources.h"

#define FATHOM_WIRE_VERSION 3 /* 1 has no SUMS; 1 and 2 have another head of a segment */
#define FATHOM_RUN_MAGIC UINT64_C(0x31304e5552485446)  /* "FTHRUN01" */
#define FATHOM_POOL_MAGIC UINT64_C(0x31304c4f50485446) /* "FTHPOL01" */

#define FATHOM_RUN_FILE "run.header"
#define FATHOM_POOL_SUFFIX ".pool"
#define FATHOM_SCHEMA_PREFIX "schema-"

/* What a tick is. */
enum { FATHOM_TICK_COUNTER = 1, FATHOM_TICK_MONOTONIC_NS = 2 };

enum { FATHOM_WHEN_FULL_DROP = 0, FATHOM_WHEN_FULL_BLOCK = 1 };

/* spool/run.header: one for a run, 4096 bytes, mapped by every process of it. Written by `fathom
   run`, or by the first process of an unsupervised run. */
struct fathom_run_header {
  uint64_t magic;
  uint32_t version;
  uint32_t tick_source;
  uint8_t run_id[16];
  /* Three clocks read at the same moment: the start of the run, ts = 0. */
  uint64_t start_tick;
  uint64_t start_monotonic_ns;
  uint64_t start_realtime_ns;
  uint64_t spool_max;  /* bytes of all pools together; 0: no limit */
  uint64_t pool_bytes; /* atomic: bytes of the pools that exist now */
  uint32_t when_full;
  uint32_t supervised;
  uint32_t creator_pid;
  uint32_t uid;
  char boot_id[40];
  char host[64];
  uint64_t refused;     /* atomic: pools that could not be made (no room, no permission) */
  uint64_t interval_ns; /* of calls that are added up; 0: a second */
  /* Two of the clocks again, late in the run: how fast the counter is, for whoever packs on another
     machine. The tick is stored last, and is 0 while the other changes. */
  uint64_t last_tick;         /* atomic */
  uint64_t last_monotonic_ns; /* atomic */
  /* Appended later; 0 where whoever wrote the header, or counts in it, does not know them. */
  uint64_t heartbeat_ns; /* atomic: the date when the recorder said last that it lives */
  uint64_t
      pid_namespace; /* inode of its creator's: which processes creator_pid and pids count in */
  char trouble[128]; /* why the recorder could not write, "" once it can: a full disk takes no file
                      */
};
#define FATHOM_RUN_HEADER_SIZE 4096
#define FATHOM_RUN_SHARED_OFFSET 2048 /* in the same page: struct fathom_run_shared */

enum fathom_pool_state {
  FATHOM_POOL_OPEN = 1,
  FATHOM_POOL_CLOSED = 2,  /* perhaps to be opened again */
  FATHOM_POOL_REMOVED = 3, /* its file is gone */
};

/* Why something is missing. Counted per source, in the run's page. */
enum fathom_loss {
  FATHOM_LOSS_NO_ROOM = 0, /* event: no segment could be had (budget, full disk, limits) */
  FATHOM_LOSS_NESTED = 1, /* event: more signal handlers inside each other than there are cursors */
  FATHOM_LOSS_TEXT_CUT = 2,   /* text: longer than FATHOM_TEXT_MAX */
  FATHOM_LOSS_UNBOUND = 3,    /* object: its calls could not be bound (late loading) */
  FATHOM_LOSS_TOO_DEEP = 4,   /* event: a function inside more others than can be kept */
  FATHOM_LOSS_UNMATCHED = 5,  /* event: a frame that others were left inside of (switched stacks) */
  FATHOM_LOSS_NOT_TRACED = 6, /* interpreter: its functions could not be traced */
  FATHOM_LOSS_CAPPED = 7,     /* event: beyond the number that was asked for */
  FATHOM_LOSS_SHARED_MEMORY = 8, /* event: of a child that shares its parent's memory */
  FATHOM_LOSS_CONFINED = 9,      /* event: no segment was left in a process that confined itself */
  FATHOM_LOSS_UNASKED = 10, /* fact: a name or a position that a confined process cannot ask for */
  FATHOM_LOSS_FILE_LIMIT = 11, /* event: no segment, for RLIMIT_FSIZE allows no file of a pool */
  FATHOM_LOSS_UNNAMED = 12,    /* fact: the path of a file that the kernel does not tell */
  FATHOM_LOSS_REASONS = 16,
  FATHOM_LOSS_REASONS_OF_POOLS = 8, /* versions 1 and 2 count in the header of a pool */
};
enum {
  FATHOM_FIRST_SOURCES = 8, /* those that the first version counted */
  FATHOM_MORE_SOURCES = 7,  /* as many more as the page has room for */
  FATHOM_SOURCE_ROOM = FATHOM_FIRST_SOURCES + FATHOM_MORE_SOURCES,
};

/* What the processes of a run count together, since version 3; zero in what an older one made. */
struct fathom_run_shared {
  uint64_t losses[FATHOM_FIRST_SOURCES][FATHOM_LOSS_REASONS]; /* atomic; fathom_loss_counter() */
  uint32_t pools_made;  /* atomic: how many pools were numbered, the last one's number */
  uint32_t newest_pool; /* atomic: number of the pool to look for room in; 0: none yet */
  uint64_t runs;        /* atomic: SWITCH records that were written */
  /* Appended later: the same losses of further sources, whether or not there are such already. A
     new source moves nothing, and whoever reads an older or a newer page reads the counters of all
     its sources. 0 in what an older one made. */
  uint64_t more_losses[FATHOM_MORE_SOURCES][FATHOM_LOSS_REASONS]; /* atomic */
};

/* The counter of a source and a reason; the source is less than FATHOM_SOURCE_ROOM. */
static inline uint64_t* fathom_loss_counter(struct fathom_run_shared* shared, unsigned source,
                                            unsigned reason) {
  const unsigned first = FATHOM_FIRST_SOURCES;
  return source < first ? &shared->losses[source][reason]
                        : &shared->more_losses[source - first][reason];
}
static inline uint64_t fathom_loss_count(const struct fathom_run_shared* shared, unsigned source,
                                         unsigned reason) {
  const unsigned first = FATHOM_FIRST_SOURCES;
  return __atomic_load_n(source < first ? &shared->losses[source][reason]
                                        : &shared->more_losses[source - first][reason],
                         __ATOMIC_RELAXED);
}

#define FATHOM_TEXT_MAX 16384

/* First 4096 bytes of a pool; segments follow, each `segment_size` bytes. */
struct fathom_pool_header {
  uint64_t magic;
  uint32_t version;
  uint32_t
      state; /* atomic enum fathom_pool_state: the host closes a pool before it removes the file */
  uint32_t segment_size;
  uint32_t segment_count;
  uint64_t schema_hash;
  uint8_t run_id[16];
  uint64_t creator_key; /* process key of the process that made it */
  uint32_t creator_pid;
  uint32_t next_hint; /* atomic: where the search for a free segment starts */
  /* atomic; 0 since version 3 */
  uint64_t losses[FATHOM_FIRST_SOURCES][FATHOM_LOSS_REASONS_OF_POOLS];
  uint64_t
      offers; /* atomic: +1 whenever a segment becomes free or partial: a reason to look again */
  /* Appended later; 0 where whoever made the pool did not know them. */
  uint32_t creator_space; /* as in the claim of a segment */
  uint32_t number;        /* that its name has, FATHOM_POOL_BROKERED and the serial: a copy tells */
};
#define FATHOM_POOL_BROKERED UINT32_C(0x80000000)
#define FATHOM_POOL_HEADER_SIZE 4096
/* In the same page: struct fathom_run_shared of processes that may not write to the run's page. */
#define FATHOM_POOL_SHARED_OFFSET 2048

enum fathom_segment_state {
  FATHOM_SEGMENT_FREE = 0,    /* anybody may claim it */
  FATHOM_SEGMENT_OWNED = 1,   /* a thread writes it */
  FATHOM_SEGMENT_PARTIAL = 2, /* handed over with room left: a thread may go on in it */
  FATHOM_SEGMENT_FULL = 3,    /* for the host to take; the host makes it free */
};

/* Records start behind this header. `progress` is committed (low half, bytes of the segment that
   are valid, header included) and the kind of the call in flight (high half, 0: none), in one word
   so that one store ends a call. */
struct fathom_segment {
  /* atomic: enum fathom_segment_state in the low 8 bits, the owner's pid in the high half and the
     pid namespace that it counts in between them, so that one exchange says that it is taken and by
     whom. A pid beside PARTIAL: for the program that this process becomes, or for anybody once it
     is gone. 0: nobody. */
  uint64_t claim;
  uint32_t generation; /* +1 by the host each time that it frees the segment: (pool, index,
                          generation) names a fill */
  uint32_t owner_tid;
  uint64_t progress;      /* atomic */
  uint64_t in_call_since; /* atomic, tick */
  uint64_t owner_key;     /* atomic: process key of the owner; 0: not told yet */
  uint64_t reserved[3];
};
/* Where a pid counts, beside it: 24 bits of the inode of its pid namespace. 0: in the namespace of
   run.header, or whoever wrote it knows nothing of namespaces. */
#define FATHOM_SPACE_UNKNOWN UINT32_C(0xffffff)
static inline uint32_t fathom_space(uint64_t inode) {
  const uint32_t bits = (uint32_t)inode & UINT32_C(0xffffff);
  if (inode == 0) return FATHOM_SPACE_UNKNOWN;
  return bits != 0 ? bits : 1;
}
static inline uint64_t fathom_claim(uint32_t state, uint32_t pid, uint32_t space) {
  return state | (uint64_t)space << 8 | (uint64_t)pid << 32;
}
static inline uint32_t fathom_claim_state(uint64_t claim) { return (uint32_t)claim & 0xff; }
static inline uint32_t fathom_claim_space(uint64_t claim) { return (uint32_t)claim >> 8; }
static inline uint32_t fathom_claim_pid(uint64_t claim) { return (uint32_t)(claim >> 32); }

/* Versions 1 and 2: state and generation in the first word, the owner's pid in place of the
   generation. */
struct fathom_segment_2 {
  uint32_t state;
  uint32_t generation;
  uint32_t owner_pid;
  uint32_t owner_tid;
};
#define FATHOM_SEGMENT_HEADER_SIZE 64
#define FATHOM_SEGMENT_SIZE 32768
