// SPDX-License-Identifier: MIT
// What is known of a code object: whether and as which site its frames are recorded. It lies in the
// room that Python keeps for such (PEP 523), as a word: nothing is allocated and nothing to free.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sources/python/compat.h"
#include "sources/python/frames.h"

#if PY_VERSION_HEX < 0x030c0000
#define PyUnstable_Code_GetExtra _PyCode_GetExtra
#define PyUnstable_Code_SetExtra _PyCode_SetExtra
#define PyUnstable_Eval_RequestCodeExtraIndex _PyEval_RequestCodeExtraIndex
#endif

// 0: not met yet. Else kMet, whether it is left out, has loops to follow, is run as other code; and
// its site.
typedef uintptr_t code_word;
enum { kMet = 1, kLeftOut = 2, kHasLoops = 4, kRewritten = 8, kSiteShift = 8 };

extern const struct fathom_frames* frames;
extern Py_ssize_t code_index;

// With the GIL held, as everything here. Once for an interpreter. False where there is no room for
// words.
bool code_prepare(const struct fathom_frames* given);

static inline uint32_t code_site(code_word word) { return (uint32_t)(word >> kSiteShift); }

static inline code_word code_known(PyObject* code) {
  void* word = NULL;
  PyUnstable_Code_GetExtra(code, code_index, &word);
  return (code_word)word;
}
// Looks at a code object that is about to run with these globals. 0 where there was no room to
// remember it. An exception that is set stays.
code_word code_meet(PyCodeObject* code, PyObject* globals);

static inline code_word code_of_frame(PyCodeObject* code, PyObject* globals) {
  const code_word word = code_known((PyObject*)code);
  return __builtin_expect(word != 0, 1) ? word : code_meet(code, globals);
}

// Before 3.12: the code that is run in the place of one that is kRewritten, borrowed; and another
// interpreter begins.
PyObject* code_rewritten(PyObject* code);
void code_forget(void);

// The site of a function of C, or of a type that is called. 0: there was no room.
uint32_t site_of_callable(PyObject* callable);
