// SPDX-License-Identifier: MIT
// What DFTracer's annotations are made of (python/dftracer): a name and a category with arguments
// of their own, which is a block as often as it is entered, and switches what is decorated with it.
#pragma once

#include <stdbool.h>

#include "sources/python/compat.h"
#include "sources/python/level.h"
#include "sources/python/site.h"

// Open blocks: one object may be entered again, and by several tasks and threads.
struct opened {
  struct level level;
  struct opened* outer;
};

struct marker {
  PyObject_HEAD PyObject *category, *name;
  PyObject* attributes;  // a dict that a program's own attributes are in, made when there are any:
  PyObject* weak_references;  // Python would make room for both with each object
  PyObject* asked;            // what the program said of `enable`
  PyObject* told[4];  // epoch, step, image_idx, image_size, until there is a dict; NULL: not given
  PyObject* arguments;  // a dict as the program gave them, or NULL
  struct site* site;    // NULL: not needed yet
  struct opened* opened;
  struct opened first;  // room for one
  bool first_taken;
  bool on;
  int64_t start_ns;  // when an event by hand began, since 1970
};

extern PyTypeObject marker_type;

enum { kTold = 4, kCategory = 0, kName, kFirstTold, kEnable = kFirstTold + kTold, kParameters };
extern PyObject* marker_names[kParameters];  // of the parameters, interned

// Makes these names; whether that worked.
bool marker_prepare(void);
int marker_init(PyObject* object, PyObject* args, PyObject* keywords);
// Ends what is open and gives back what it holds: it is as empty as a new one then.
void marker_end(PyObject* object);
// Of an interpreter that was finalised.
void marker_forget_spares(void);
int64_t marker_now_ns(void);  // since 1970

// set_up_markers(takes_args, unit_ns), METH_VARARGS: whether arguments are recorded, and in which
// unit times are told.
PyObject* marker_set_up(PyObject* module, PyObject* args);
// quicken(class), METH_O: calls of this class make objects in one step, unless it has an __init__.
PyObject* marker_quicken(PyObject* module, PyObject* class);

// Sends the arguments to the level that the library has open last.
void marker_send(struct marker* self);
// What is recorded for a value: of a tag, what is tagged. A new reference, NULL with an exception.
PyObject* marker_value(PyObject* value);
