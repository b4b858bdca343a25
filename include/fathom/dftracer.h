/* SPDX-License-Identifier: MIT
   What the drop-in for DFTracer needs of libfathom.so beside <fathom/fathom.h>: its Python module
   and libdftracer*.so are thin names of these functions. Programs include <dftracer/dftracer.h>. */
#pragma once

#include <fathom/fathom.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fathom_dftracer_start {
  const char* log_file;  /* NULL, or what wins over the variable */
  const char* data_dirs; /* NULL, or what comes beside the variable's */
  int process_id;        /* -1: the real one */
  int generation;        /* 1 or 2: whose files, unless FATHOM_DFTRACER says; 0: 2 */
  int binds_nothing;     /* no call of libc is to be recorded */
};

/* Whether DFTRACER_ENABLE, or the file that DFTRACER_CONFIGURATION names, asks for it, or a
   recording takes annotations anyway. */
FATHOM_API int fathom_dftracer_enabled(void);
/* Whether arguments are to be written (DFTRACER_INC_METADATA), or a recording takes them anyway. */
FATHOM_API int fathom_dftracer_takes_args(void);
/* The value of a variable as it holds now, "" for none; NULL for a name that is not known. */
FATHOM_API const char* fathom_dftracer_config(const char* variable);

/* Recording begins; 0 where it does not. Again after the end is a new beginning. */
FATHOM_API int fathom_dftracer_initialize(const struct fathom_dftracer_start* start);
/* Recording ends, and this process's file is complete, if somebody writes it within 10 seconds. */
FATHOM_API void fathom_dftracer_finalize(void);

/* A fact about this process. Each one is kept, also of a key that was told before. */
FATHOM_API void fathom_dftracer_metadata(const char* key, const char* value);

/* An event whose times the program took itself, since 1970 and in the unit of
   DFTRACER_TIME_METRIC: microseconds as a rule. Arguments are sent between the two, as those of a
   region (fathom_arg_*). begin.begin is 0 when nothing is recorded.
 */
FATHOM_API struct fathom_region fathom_dftracer_event_begin(void);
FATHOM_API void fathom_dftracer_event_end(struct fathom_site* site, struct fathom_region region,
                                          int64_t start, int64_t duration);

#ifdef __cplusplus
}
#endif
