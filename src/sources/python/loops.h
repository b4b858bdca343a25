// SPDX-License-Identifier: MIT
// Loops of chosen modules. From 3.12 on, which a code object has is read off its bytecode once, and
// sys.monitoring then tells of the places where one begins, turns and ends; all others it is told
// to forget (loops.c). Before, Python tells of no places but lines, to one tracer a thread, which
// is the program's: the module runs as code that tells of them by itself (rewrite.h, marks.c).
#pragma once

#include <stdbool.h>

#include "sources/python/compat.h"
#include "sources/python/frames.h"

// Finds the loops of a code object of this place and site; whether it has some to follow, or before
// 3.12 some that a generator can go on in.
bool loops_find(PyCodeObject* code, const struct fathom_frame_place* function, uint32_t site);

// From here on: 3.12 and newer.

// Another interpreter begins: none is known.
void loops_forget(void);

extern unsigned long loops_events;  // of sys.monitoring, that are set for code with loops
void loops_follow(int tool, PyObject* code);
// A generator goes on behind `offset`: loops around it do, too.
void loops_resume(PyObject* code, Py_ssize_t offset);
// Whether this place is worth being told of again.
bool loops_jump(PyObject* code, Py_ssize_t offset, Py_ssize_t destination);
bool loops_line(PyObject* code, Py_ssize_t line);
