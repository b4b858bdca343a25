/* SPDX-License-Identifier: MIT
   Fathom's annotations for C and C++. A program that uses them links no library: every function
   below is a weak symbol that is there only while Fathom records (or when libfathom.so is linked),
   and costs one load and one branch when it is not.

     void train(int epoch) {
       FATHOM_FUNCTION();                      // the function, until it returns
       FATHOM_ARG("epoch", epoch);             // integer, double or string: on the innermost open
   region
       {
         FATHOM_REGION("load");                // this scope
         …
       }
       FATHOM_COUNTER("loss", loss);           // a value that changes over time
       FATHOM_INSTANT("checkpoint");           // a moment
     }

   FATHOM_REGION_IN("name", "category") gives a region a category; FATHOM_METADATA("key", "value")
   tells a fact of the process. FATHOM_DISABLE defined before this header makes all of them nothing.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A place in the program. `id` is Fathom's; the rest is yours and must outlive the first use only.
 */
struct fathom_site {
  const char* name;
  const char* category;
  const char* file;
  uint32_t line;
  uint32_t id;
};

/* An open region: when it began and how deep it lies. begin is 0 when nothing is recorded. */
struct fathom_region {
  uint64_t begin;
  uint64_t depth;
};

/* noplt: a program that is not position independent would else have no slot for a weak function,
 * and never be annotated. Compilers without it (clang) need -fPIE, which is their default. */
#ifdef __has_attribute
#if __has_attribute(noplt)
#define FATHOM_API __attribute__((weak, noplt))
#endif
#endif
#ifndef FATHOM_API
#define FATHOM_API __attribute__((weak))
#endif

FATHOM_API struct fathom_region fathom_region_begin(struct fathom_site* site);
FATHOM_API void fathom_region_end(struct fathom_site* site, struct fathom_region region);
FATHOM_API void fathom_instant(struct fathom_site* site);
FATHOM_API void fathom_counter_int(struct fathom_site* site, int64_t value);
FATHOM_API void fathom_counter_double(struct fathom_site* site, double value);
FATHOM_API void fathom_arg_int(const char* key, int64_t value);
FATHOM_API void fathom_arg_uint(const char* key, uint64_t value);
FATHOM_API void fathom_arg_double(const char* key, double value);
FATHOM_API void fathom_arg_text(const char* key, const char* value);
FATHOM_API void fathom_metadata(const char* key, const char* value);

/* The daemon `fathom watch`: from now on it records this process with all its threads, and whatever
 * that makes; or this process alone not any more. 0 when it does, -1 where no daemon answers. */
FATHOM_API int fathom_connect(void);
FATHOM_API int fathom_disconnect(void);

/* For interpreters and coroutines, whose regions do not end in the order of the C stack. A level is
 * what an open region, or call, is deep; one that these functions open lasts until it is closed. */
FATHOM_API struct fathom_region fathom_span_begin(void); /* opens a level, too */
/* Writes the region; of the levels that are open, `level` stay open at most. */
FATHOM_API void fathom_span_end(struct fathom_site* site, struct fathom_region region,
                                uint64_t level);
/* Opens levels, and returns how many were open before; 0 opens none. */
FATHOM_API uint64_t fathom_levels_open(uint64_t more);
/* Sets how many are open. fathom_arg_* then belong to the last one of them. */
FATHOM_API void fathom_levels_set(uint64_t open);

#ifdef __cplusplus
}
#endif

#define FATHOM_INLINE static inline __attribute__((always_inline, unused))

struct fathom_scope {
  struct fathom_site* site;
  struct fathom_region region;
};

FATHOM_INLINE struct fathom_scope fathom_scope_open(struct fathom_site* site) {
  struct fathom_scope scope = {site, {0, 0}};
  if (fathom_region_begin) scope.region = fathom_region_begin(site);
  return scope;
}
FATHOM_INLINE void fathom_scope_close(struct fathom_scope* scope) {
  if (scope->region.begin) fathom_region_end(scope->site, scope->region);
}

FATHOM_INLINE void fathom_send_int(const char* key, int64_t value) {
  if (fathom_arg_int) fathom_arg_int(key, value);
}
FATHOM_INLINE void fathom_send_uint(const char* key, uint64_t value) {
  if (fathom_arg_uint) fathom_arg_uint(key, value);
}
FATHOM_INLINE void fathom_send_double(const char* key, double value) {
  if (fathom_arg_double) fathom_arg_double(key, value);
}
FATHOM_INLINE void fathom_send_text(const char* key, const char* value) {
  if (fathom_arg_text) fathom_arg_text(key, value);
}
FATHOM_INLINE void fathom_count_int(struct fathom_site* site, int64_t value) {
  if (fathom_counter_int) fathom_counter_int(site, value);
}
FATHOM_INLINE void fathom_count_double(struct fathom_site* site, double value) {
  if (fathom_counter_double) fathom_counter_double(site, value);
}
FATHOM_INLINE void fathom_mark(struct fathom_site* site) {
  if (fathom_instant) fathom_instant(site);
}
FATHOM_INLINE void fathom_fact(const char* key, const char* value) {
  if (fathom_metadata) fathom_metadata(key, value);
}

#define FATHOM_PASTE_(a, b) a##b
#define FATHOM_PASTE(a, b) FATHOM_PASTE_(a, b)

#ifdef FATHOM_DISABLE
#define FATHOM_REGION_IN(name, category) ((void)0)
#define FATHOM_FUNCTION() ((void)0)
#define FATHOM_ARG(key, value) ((void)0)
#define FATHOM_COUNTER(name, value) ((void)0)
#define FATHOM_INSTANT(name) ((void)0)
#define FATHOM_METADATA(key, value) ((void)0)
#else
#define FATHOM_SITE_(number, name, category)                                                \
  static struct fathom_site FATHOM_PASTE(fathom_site_, number) = {name, category, __FILE__, \
                                                                  __LINE__, 0}
#define FATHOM_OPEN_(number)                                                             \
  __attribute__((cleanup(fathom_scope_close), unused)) struct fathom_scope FATHOM_PASTE( \
      fathom_scope_, number) = fathom_scope_open(&FATHOM_PASTE(fathom_site_, number))
#define FATHOM_REGION_(number, name, category) \
  FATHOM_SITE_(number, name, category);        \
  FATHOM_OPEN_(number)
/* __func__ is no constant expression in C: the name is filled in at run time, by every thread
 * alike. */
#define FATHOM_FUNCTION_(number)                      \
  FATHOM_SITE_(number, 0, "function");                \
  FATHOM_PASTE(fathom_site_, number).name = __func__; \
  FATHOM_OPEN_(number)
#define FATHOM_REGION_IN(name, category) FATHOM_REGION_(__COUNTER__, name, category)
#define FATHOM_FUNCTION() FATHOM_FUNCTION_(__COUNTER__)

#define FATHOM_INSTANT_(number, name)                 \
  do {                                                \
    FATHOM_SITE_(number, name, 0);                    \
    fathom_mark(&FATHOM_PASTE(fathom_site_, number)); \
  } while (0)
#define FATHOM_INSTANT(name) FATHOM_INSTANT_(__COUNTER__, name)
#define FATHOM_METADATA(key, value) fathom_fact(key, value)

#ifdef __cplusplus
#include <fathom/fathom.hpp>
#define FATHOM_ARG(key, value) ::fathom::send_argument(key, value)
#define FATHOM_COUNTER_(number, name, value)                            \
  do {                                                                  \
    FATHOM_SITE_(number, name, 0);                                      \
    ::fathom::send_counter(&FATHOM_PASTE(fathom_site_, number), value); \
  } while (0)
#else
/* clang-format off */
#define FATHOM_ARG(key, value) __extension__ _Generic((value), \
    char *: fathom_send_text, const char *: fathom_send_text, \
    float: fathom_send_double, double: fathom_send_double, long double: fathom_send_double, \
    unsigned long: fathom_send_uint, unsigned long long: fathom_send_uint, \
    default: fathom_send_int)(key, value)
#define FATHOM_COUNTER_(number, name, value) \
  do { \
    FATHOM_SITE_(number, name, 0); \
    __extension__ _Generic((value), float: fathom_count_double, double: fathom_count_double, long double: fathom_count_double, \
             default: fathom_count_int)(&FATHOM_PASTE(fathom_site_, number), value); \
  } while (0)
/* clang-format on */
#endif
#define FATHOM_COUNTER(name, value) FATHOM_COUNTER_(__COUNTER__, name, value)
#endif

#define FATHOM_REGION(name) FATHOM_REGION_IN(name, 0)
