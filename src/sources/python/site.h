// SPDX-License-Identifier: MIT
// A name and a category that events bear, as Python objects. Blocks, counters and instants find
// theirs by name in a table.
#pragma once

#include "sources/python/abi.h"
#include "sources/python/compat.h"

struct site {
  PyObject_HEAD struct fathom_site site;
  PyObject *name, *category, *file;  // whose bytes `site` points at; NULL: none
};

extern PyTypeObject site_type;

// With the GIL held, as everything here. `category` and `file` may be None. A new reference, or
// NULL with an exception set.
struct site* site_new(PyObject* name, PyObject* category, PyObject* file, unsigned line);
struct site* site_named(PyObject* name, PyObject* category);
// The table is of an interpreter that was finalised, where there was one.
void sites_forget(void);
