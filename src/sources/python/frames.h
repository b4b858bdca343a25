/* SPDX-License-Identifier: MIT
   What libfathom.so gives to the extension that traces an interpreter's functions (tracer.h): the
   stack of a thread's frames, and their records. Plain C, for both halves. None of it allocates
   from the program's heap, waits, or changes errno. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A site that is not recorded: a filter leaves it out. */
#define FATHOM_FRAME_LEFT_OUT UINT32_MAX

struct fathom_frame_place {
  const char* name;
  const char* module; /* NULL: not known */
  const char* file;   /* NULL: none */
  uint32_t line;
};

/* See `turn`. */
#define FATHOM_LOOP_RESUMES UINT64_MAX

/* A loop: its site, and which it is of the loops in one place (`[x for x in a for y in x]`). */
static inline uint64_t fathom_loop(uint32_t site, unsigned which) {
  return site | ((uint64_t)(which & 0xff) << 32);
}

struct fathom_frames {
  /* Of this struct: an extension of another version is refused. */
  uint64_t size;
  /* The id of a place; 0 where there is no room for it: ask again. */
  uint32_t (*site)(const struct fathom_frame_place* place);
  /* The same, or FATHOM_FRAME_LEFT_OUT where the filters by module and path say so. */
  uint32_t (*filtered_site)(const struct fathom_frame_place* place);
  /* A frame begins to run, and stops: by return, yield or exception. They follow each other as
     calls do; what was left without a word ends with the frame around it. */
  void (*enter)(uint32_t site);
  void (*leave)(uint32_t site);
  /* A loop of the running frame begins one more turn (`turns` 1), is there (0), or goes on with a
     frame that was suspended (FATHOM_LOOP_RESUMES). It
     is opened if it is not open, and 1 returned; loops inside it that are, end. `function` is the
     site that the running frame must have; 0: whichever it is. */
  int (*turn)(uint32_t function, uint64_t loop, uint64_t turns);
  void (*leave_loop)(uint64_t loop);
  /* Counts something that is missing from layer python (enum fathom_loss). */
  void (*lose)(uint32_t reason);
  int (*wants_loops)(const char* module);
  /* A regular file of a reasonable size, with a NUL behind it; NULL where there is none. To be
     given back. No layer records that it was read. */
  char* (*read_file)(const char* path, size_t* size);
  void (*free_file)(char* text, size_t size);
  int wants_c_calls;
};

/* Exported by the extension, called with the interpreter's lock held. NULL, or why nothing can be
   traced: a text that stays. FATHOM_TRACE_LATER: not by this thread, ask again. */
#define FATHOM_TRACE_START "fathom_trace_start"
#define FATHOM_TRACE_LATER ""
typedef const char* (*fathom_trace_start_function)(const struct fathom_frames* frames);

#ifdef __cplusplus
}
#endif
