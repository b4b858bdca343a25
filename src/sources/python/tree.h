// SPDX-License-Identifier: MIT
// Before 3.12: puts marks into the syntax tree of a module, where a turn of a loop begins and where
// a loop ends. A mark is a call of a constant, on a line that is there anyway: no name, no line and
// no frame is added. Which objects the constants are is settled when the tree is compiled
// (marks.h).
#pragma once

#include <stdbool.h>

#include "sources/python/compat.h"

// Marks all loops of the tree, and adds an object to `marks` for each constant: its place in the
// list is the number in the constant. False with an exception set; the tree is of no use then.
bool tree_mark(PyObject* tree, PyObject* marks);

// The constant that stands for a mark until it is compiled, as a new reference.
PyObject* tree_constant(Py_ssize_t number);
