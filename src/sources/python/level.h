// SPDX-License-Identifier: MIT
// The open regions of a thread that arguments can be given to, and how deep they lie.
//
// A decorated function that runs is not among them: it lasts as long as a call of C, and its
// arguments go straight into the recording. What may be suspended is: blocks (`with`, loops) and
// the steps of generators and coroutines. They form a chain for each thread, innermost first; one
// that is suspended takes the part of the chain that lies inside it along. All of it is guarded by
// the interpreter's lock.
#pragma once

#include <stdbool.h>

#include "sources/python/abi.h"
#include "sources/python/compat.h"
#include "sources/python/context.h"

struct level;

struct chain {
  struct level* innermost;
  void* context;    // the one whose levels are open in the library, of all that are in the chain
  uint64_t excess;  // levels of this thread that another one has ended
};

struct level {
  struct level* outer;
  struct level** link;  // the pointer that leads here; NULL: in no chain
  struct chain* chain;  // of the thread that it is open in; NULL: in none
  PyObject* arguments;  // a dict of clean texts to values (text.h), or NULL
  void* context;        // the contextvars.Context that it was opened in: which task's it is
  uint64_t depth;       // of its level now; region.depth is where it began
  struct fathom_region region;
};

// Initial-exec, as in the library itself: one load instead of a call.
extern __thread struct chain* own_chain __attribute__((tls_model("initial-exec")));

// Tasks of one thread take turns. The levels of those that are suspended are not open: before
// anything is opened, or ended, the library is told how many are.
void chain_arrange(struct chain* chain);
static inline void levels_arrange(void) {
  struct chain* chain = own_chain;
  if (__builtin_expect(chain != NULL && chain->innermost != NULL, 0) &&
      chain->context != context_now())
    chain_arrange(chain);
}

// Opens one that lies in `level`; false when nothing is recorded.
bool level_begin(struct level* level);
// Closes it and writes its record. `exception` is a type, or NULL.
void level_end(struct level* level, struct fathom_site* site, PyObject* exception);
// Closes it and writes nothing.
void level_drop(struct level* level);

// A step of something that is suspended between its steps. `before` is how many levels were open
// when the step began, `inside` how many it had open within itself when it was suspended, `held`
// those of them that lie in the chain.
struct steps {
  struct level level;
  struct level* held;
  uint64_t before;
  uint64_t inside;
};
bool steps_first(struct steps* steps);
void steps_resume(struct steps* steps);
void steps_suspend(struct steps* steps);
void steps_end(struct steps* steps, struct fathom_site* site, PyObject* exception);

// Whether anything is open in this thread that an argument may belong to.
static inline bool level_is_open(void) {
  return abi.levels_open(0) > 0 || (own_chain != NULL && own_chain->innermost != NULL);
}
// Whether it is the last that the library has open, and lies where it began: what is sent now is
// its own.
bool level_is_innermost(const struct level* level);
// Sends a clean argument (text.h) to the level that the library has open last.
void level_send(PyObject* key, PyObject* value);
// Gives an argument to the innermost open region; -1 with an exception set, where there is no
// memory.
int level_argument(PyObject* key, PyObject* value);
