// SPDX-License-Identifier: MIT
// The chain of open levels of a thread. Generators and coroutines end in any order, so levels are
// linked and can be moved, while those of libc calls lie on the C stack.
#include "sources/python/level.h"

#include <stdlib.h>
#include <string.h>

#include "sources/python/text.h"

__thread struct chain* own_chain __attribute__((tls_model("initial-exec")));
static const char kChainKey[] = "fathom.chain";

static void forget(struct level* level) {
  level->link = NULL;
  level->chain = NULL;
}

// With the thread's state in Python goes its chain; what is open there may live on elsewhere.
static void chain_ends(PyObject* capsule) {
  struct chain* chain = PyCapsule_GetPointer(capsule, kChainKey);
  if (chain == NULL) return PyErr_Clear();
  for (struct level* level = chain->innermost; level != NULL; level = level->outer) forget(level);
  if (own_chain == chain) own_chain = NULL;
  free(chain);
}

static struct chain* make_chain(void) {
  PyObject* state = PyThreadState_GetDict();
  struct chain* chain = state != NULL ? calloc(1, sizeof *chain) : NULL;
  if (chain == NULL) return NULL;
  PyObject* capsule = PyCapsule_New(chain, kChainKey, chain_ends);
  if (capsule == NULL) {
    free(chain);
  } else {
    if (PyDict_SetItemString(state, kChainKey, capsule) == 0) own_chain = chain;
    Py_DECREF(capsule);
  }
  PyErr_Clear();
  return own_chain;
}

static inline struct chain* this_chain(void) {
  return own_chain != NULL ? own_chain : make_chain();
}

static void push(struct chain* chain, struct level* level) {
  level->outer = chain->innermost;
  level->link = &chain->innermost;
  level->chain = chain;
  if (level->outer != NULL) level->outer->link = &level->outer;
  chain->innermost = level;
}

static void take_out(struct level* level) {
  if (level->link == NULL) return;
  *level->link = level->outer;
  if (level->outer != NULL) level->outer->link = level->link;
  forget(level);
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

// Where nothing of a suspended task lies inside, more levels may be open than the chain knows of:
// those of calls that are running.
void chain_arrange(struct chain* chain) {
  void* now = context_now();
  struct level *level = chain->innermost, *suspended = NULL;
  while (level != NULL && !context_is_entered(level->context, now)) {
    suspended = level;
    level = level->outer;
  }
  const uint64_t open = level != NULL ? level->depth + 1 : suspended->depth;
  if (suspended != NULL || abi.levels_open(0) < open) abi.levels_set(open);
  chain->context = now;
}

// Blocks may end in any order: those of this task that lie inside come one level nearer, unless a
// call that is running lies inside as well, whose level cannot be moved. Gives how many stay open.
static uint64_t close_inside_out(struct chain* chain, const struct level* level) {
  const void* now = context_now();
  uint64_t until = level->depth;
  for (struct level* one = chain->innermost; one != level; one = one->outer) {
    if (!context_is_entered(one->context, now)) continue;
    if (until == level->depth) {
      if (abi.levels_open(0) != one->depth + 1) break;
      until = one->depth;
    }
    one->depth--;
  }
  return until;
}

// Takes it out of its chain, and gives how many levels are open in this thread afterwards.
static uint64_t close_in_chain(struct level* level) {
  struct chain* chain = level->chain;
  uint64_t until = UINT64_MAX;  // suspended, or of another thread
  if (chain != NULL && chain == own_chain) {
    levels_arrange();
    until = close_inside_out(chain, level);
  } else if (chain != NULL) {
    chain->excess++;
  }
  take_out(level);
  return until;
}

void level_send(PyObject* key, PyObject* value) {
  const char* name = PyUnicode_AsUTF8(key);
  if (name == NULL) return PyErr_Clear();
  if (PyFloat_CheckExact(value)) return abi.arg_double(name, PyFloat_AS_DOUBLE(value));
  if (PyLong_CheckExact(value)) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow == 0) return abi.arg_int(name, number);
    return abi.arg_uint(name, PyLong_AsUnsignedLongLong(value));  // text.h lets no other through
  }
  const char* text = PyUnicode_AsUTF8(value);
  if (text == NULL) return PyErr_Clear();
  abi.arg_text(name, text);
}

static void send_arguments(PyObject* arguments, PyObject* exception) {
  PyObject *key, *value;
  Py_ssize_t at = 0;
  while (arguments != NULL && PyDict_Next(arguments, &at, &key, &value)) level_send(key, value);
  if (exception != NULL) abi.arg_text("exception", text_of_type(exception));
}

// The arguments of a record are those that were sent at its depth since the last one. A generator
// that is closed from outside has not failed.
static void write_record(struct level* level, struct fathom_site* site, PyObject* exception,
                         uint64_t until) {
  if (exception == PyExc_GeneratorExit) exception = NULL;
  if (level->arguments == NULL && exception == NULL)
    return abi.span_end(site, level->region, until);
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  const uint64_t open = abi.levels_open(0);
  abi.levels_set(level->region.depth + 1);
  send_arguments(level->arguments, exception);
  abi.span_end(site, level->region, until);
  abi.levels_set(least(open, until));
  Py_CLEAR(level->arguments);
  PyErr_Restore(type, value, trace);
}

static bool open_level(struct level* level) {
  memset(level, 0, sizeof *level);
  level->region = abi.span_begin();
  level->depth = level->region.depth;
  return level->region.begin != 0;
}

static void heal(struct chain* chain) {
  const uint64_t open = abi.levels_open(0);
  abi.levels_set(open - least(open, chain->excess));
  chain->excess = 0;
}

static void push_if(struct chain* chain, struct level* level) {
  if (chain == NULL) return;  // no memory: arguments are lost, the region is not
  if (chain->innermost == NULL) chain->context = context_now();
  push(chain, level);
}

bool level_is_innermost(const struct level* level) {
  levels_arrange();
  return level->link != NULL && own_chain != NULL && own_chain->innermost == level &&
         level->depth == level->region.depth && abi.levels_open(0) == level->depth + 1;
}

bool level_begin(struct level* level) {
  struct chain* chain = this_chain();
  if (chain != NULL && chain->excess != 0) heal(chain);
  levels_arrange();
  if (!open_level(level)) return false;
  level->context = context_now();
  push_if(chain, level);
  return true;
}

void level_end(struct level* level, struct fathom_site* site, PyObject* exception) {
  const uint64_t until = close_in_chain(level);
  write_record(level, site, exception, until);
  level->region.begin = 0;
}

void level_drop(struct level* level) {
  const uint64_t until = close_in_chain(level);
  abi.levels_set(least(abi.levels_open(0), until));
  Py_CLEAR(level->arguments);
  level->region.begin = 0;
}

bool steps_first(struct steps* steps) {
  memset(steps, 0, sizeof *steps);
  levels_arrange();
  if (!open_level(&steps->level)) return false;
  steps->before = steps->level.depth;
  push_if(this_chain(), &steps->level);
  return true;
}

// What was open inside lies as deep below the step as before, wherever the step lies now.
static void take_held_along(struct steps* steps, struct chain* chain, uint64_t moved) {
  struct level* outermost = steps->held;
  for (struct level* one = steps->held; one != NULL; one = one->outer) {
    one->depth += moved;
    one->chain = chain;
    outermost = one;
  }
  if (outermost == NULL) return;
  outermost->outer = &steps->level;
  steps->level.link = &outermost->outer;
  chain->innermost = steps->held;
  steps->held->link = &chain->innermost;
  steps->held = NULL;
}

void steps_resume(struct steps* steps) {
  levels_arrange();
  steps->before = abi.levels_open(1 + steps->inside);
  const uint64_t moved = steps->before - steps->level.depth;
  steps->level.depth = steps->before;
  struct chain* chain = this_chain();
  push_if(chain, &steps->level);
  if (chain != NULL) take_held_along(steps, chain, moved);
}

// Cuts the step and what lies inside it off the chain.
static void hold_inside(struct steps* steps) {
  struct level* level = &steps->level;
  struct chain* chain = level->chain;
  if (chain == NULL) return;
  if (level->link != &chain->innermost) {
    *level->link = NULL;
    steps->held = chain->innermost;
    steps->held->link = &steps->held;
    for (struct level* one = steps->held; one != NULL; one = one->outer) one->chain = NULL;
  }
  chain->innermost = level->outer;
  if (level->outer != NULL) level->outer->link = &chain->innermost;
  forget(level);
}

void steps_suspend(struct steps* steps) {
  const uint64_t open = abi.levels_open(0), own = steps->before + 1;
  steps->inside = open > own ? open - own : 0;
  hold_inside(steps);
  abi.levels_set(steps->before);
}

void steps_end(struct steps* steps, struct fathom_site* site, PyObject* exception) {
  hold_inside(steps);
  struct level* inside = steps->held;
  while (inside != NULL) {
    struct level* next = inside->outer;
    forget(inside);
    inside = next;
  }
  steps->held = NULL;
  write_record(&steps->level, site, exception, steps->before);
}

static int keep_argument(struct level* level, PyObject* key, PyObject* value) {
  if (level->arguments == NULL) {
    level->arguments = PyDict_New();
  } else if (Py_REFCNT(level->arguments) > 1) {  // those that a block was made with
    PyObject* shared = level->arguments;
    level->arguments = PyDict_Copy(shared);
    Py_DECREF(shared);
  }
  return level->arguments != NULL ? PyDict_SetItem(level->arguments, key, value) : -1;
}

// Calls that lie inside the innermost block of this task have levels that the chain knows nothing
// of: then one of them is the innermost of all.
int level_argument(PyObject* key, PyObject* value) {
  levels_arrange();
  const void* now = context_now();
  struct level* level = own_chain != NULL ? own_chain->innermost : NULL;
  const uint64_t open = abi.levels_open(0);
  while (level != NULL && !context_is_entered(level->context, now)) level = level->outer;
  if (level != NULL && open <= level->depth + 1) return keep_argument(level, key, value);
  if (open > 0) level_send(key, value);
  return 0;
}
