// SPDX-License-Identifier: MIT
// Loops of chosen modules, from 3.12 on: which a code object has is read off its bytecode once, and
// sys.monitoring then tells of the places where one begins, turns and ends; all others it is told
// to forget. Before 3.12 Python tells of no places but lines, to one tracer a thread, which is the
// program's: there are no loops, and the recording says so.
#pragma once

#include <stdbool.h>

#include "sources/python/compat.h"
#include "sources/python/frames.h"

// Finds the loops of a code object of this place; whether it has some.
bool loops_find(PyCodeObject* code, const struct fathom_frame_place* function);

// Another interpreter begins: none is known.
void loops_forget(void);

extern unsigned long loops_events;  // of sys.monitoring, that are set for code with loops
void loops_follow(int tool, PyObject* code);
// A generator goes on behind `offset`: loops around it do, too.
void loops_resume(PyObject* code, Py_ssize_t offset);
// Whether this place is worth being told of again.
bool loops_jump(PyObject* code, Py_ssize_t offset, Py_ssize_t destination);
bool loops_line(PyObject* code, Py_ssize_t line);
