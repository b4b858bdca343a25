// SPDX-License-Identifier: MIT
// Which arguments a decorated function tells of each call (python/dftracer): the values of this
// call, its defaults, what its object says of itself, and those of the marker that it was decorated
// with.
#pragma once

#include <stdbool.h>

#include "sources/python/marker.h"

struct told;

// tell(traced, names, places, defaults, method, marker), METH_VARARGS: from now on calls tell. All
// but the first, `method` (whether the first argument is an object) and the marker (or None) are
// tuples of one length; a place is -1 where the function has no such parameter, a default is
// Ellipsis where it has none.
PyObject* told_add(PyObject* module, PyObject* args);

// Whether calls are recorded at all: the marker says so.
bool told_is_on(const struct told* told);
// Sends them to the level that was just opened.
void told_send(const struct told* told, PyObject* const* args, Py_ssize_t count, PyObject* names);
int told_traverse(const struct told* told, visitproc visit, void* arg);
void told_free(struct told* told);
