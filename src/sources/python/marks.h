// SPDX-License-Identifier: MIT
// Before 3.12: objects that the marked code of a module calls as constants (tree.h). One tells that
// a turn of a loop begins, one that the loop ends. Outside a recorded frame they do nothing.
#pragma once

#include <stdbool.h>

#include "sources/python/compat.h"

// A loop's mark of turns, which bears its name and a number that loops of this name do not share;
// without a name it tells nothing. And marks that belong to it.
PyObject* marks_turn(PyObject* name, long line, Py_ssize_t which);
PyObject* marks_begin(PyObject* turn);
void marks_begin_at_start(PyObject* turn);  // of the function that is nothing but this loop
PyObject* marks_end(PyObject* turn);

// Puts marks in the place of the constants that stand for them, in this code and all inside it.
bool marks_settle(PyCodeObject* code, PyObject* marks);

// A generator goes on behind `offset` (in bytes): loops around it do, too.
void marks_resume(PyCodeObject* code, int offset);

// Another interpreter begins: none is known.
void marks_forget(void);
