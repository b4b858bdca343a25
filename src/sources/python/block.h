// SPDX-License-Identifier: MIT
// `with fathom.region(…):` and `for x in fathom.iter(…):`.
#pragma once

#include "sources/python/compat.h"

extern PyTypeObject block_type;
extern PyTypeObject loop_type;

// METH_FASTCALL | METH_KEYWORDS
PyObject* make_block(PyObject* module, PyObject* const* args, Py_ssize_t count, PyObject* names);
// METH_FASTCALL
PyObject* make_loop(PyObject* module, PyObject* const* args, Py_ssize_t count);
// What is kept is of an interpreter that was finalised, where there was one.
void block_forget(void);
