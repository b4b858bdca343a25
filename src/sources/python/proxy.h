// SPDX-License-Identifier: MIT
// Slots of objects that stand for another one, which is the first field behind their head.
#pragma once

#include "sources/python/compat.h"

struct proxy {
  PyObject_HEAD PyObject* inner;
};

PyObject* proxy_get(PyObject* object, PyObject* name);
int proxy_set(PyObject* object, PyObject* name, PyObject* value);
PyObject* proxy_repr(PyObject* object);

// What a type has of its own, and would answer instead of the inner object. `__class__` makes
// isinstance say what it says of that one.
PyObject* proxy_named(PyObject* object, void* name);
PyObject* proxy_class(PyObject* object, void* unused);
int proxy_set_named(PyObject* object, PyObject* value, void* name);
#define FATHOM_PROXY_ATTRIBUTES                                            \
  {"__class__", proxy_class, NULL, NULL, NULL},                            \
      {"__doc__", proxy_named, proxy_set_named, NULL, (void*)"__doc__"}, { \
    "__module__", proxy_named, proxy_set_named, NULL, (void*)"__module__"  \
  }
