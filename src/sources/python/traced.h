// SPDX-License-Identifier: MIT
// A decorated callable. In everything but its cost it is the one that it wraps: attributes are
// read from and written to that one, isinstance says so, it binds as a method where that one does,
// is pickled by name and copied as itself.
#pragma once

#include <stdbool.h>

#include "sources/python/compat.h"
#include "sources/python/site.h"

enum made { kResult, kGenerator, kCoroutine, kIterableCoroutine, kAsyncGenerator };

struct traced {
  PyObject_HEAD PyObject* wrapped;
  struct site* site;
  PyObject* weak_references;
  vectorcallfunc call;
  enum made made;     // by a call
  struct told* told;  // or NULL
};

struct told;

extern PyTypeObject traced_type;           // binds as functions do
extern PyTypeObject traced_callable_type;  // does not bind

// wrap(callable, name, category, file, line), METH_VARARGS: with the GIL held, a new reference, or
// NULL with an exception set. An object owns what it wraps and its site.
PyObject* make_traced(PyObject* module, PyObject* args);

// Each call tells its arguments from now on. Takes `told`; false with an exception set where the
// object is none that can.
bool traced_tell(PyObject* object, struct told* told);
