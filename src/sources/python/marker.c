// SPDX-License-Identifier: MIT
// Markers as blocks: what is open, by tasks and threads, and what is sent with it. One marker may
// be entered many times at once (a decorator's is shared by all calls, and tasks of an event loop
// take turns inside it), so each entry has a level of its own, and an exit finds the one that
// belongs to it. How one is made: marker_make.c.
#include "sources/python/marker.h"

#include <stdlib.h>
#include <string.h>
#include <structmember.h>

#include "sources/python/text.h"

static const char* const kNames[kParameters] = {"cat",       "name",       "epoch", "step",
                                                "image_idx", "image_size", "enable"};
PyObject* marker_names[kParameters];
static bool takes_args = false;
static int64_t unit_ns = 1000;

// Sites by their names, which are literals as a rule: addresses tell them apart.
enum { kNear = 64 };
static struct {
  PyObject *name, *category;
  struct site* site;
} near[kNear];

bool marker_prepare(void) {
  memset(near, 0, sizeof near);  // of an interpreter that was finalised, where there was one
  marker_forget_spares();
  for (int i = 0; i < kParameters; i++) {
    marker_names[i] = PyUnicode_InternFromString(kNames[i]);
    if (marker_names[i] == NULL) return false;
  }
  return true;
}

PyObject* marker_set_up(PyObject* module, PyObject* args) {
  int takes;
  long long unit;
  (void)module;
  if (!PyArg_ParseTuple(args, "pL:set_up_markers", &takes, &unit)) return NULL;
  takes_args = takes != 0;
  unit_ns = unit > 0 ? unit : 1000;
  Py_RETURN_NONE;
}

static struct site* site_of(PyObject* name, PyObject* category) {
  const size_t at = (((size_t)name >> 4) ^ ((size_t)category >> 6)) % kNear;
  if (near[at].name == name && near[at].category == category) {
    Py_INCREF(near[at].site);
    return near[at].site;
  }
  struct site* site = site_named(name, category);
  if (site == NULL) return NULL;
  PyObject *old_name = near[at].name, *old_category = near[at].category;
  struct site* old_site = near[at].site;
  Py_INCREF(name);
  Py_INCREF(category);
  Py_INCREF(site);
  near[at].name = name;
  near[at].category = category;
  near[at].site = site;
  Py_XDECREF(old_name);
  Py_XDECREF(old_category);
  Py_XDECREF(old_site);
  return site;
}

// --- arguments

// A value as text. DFTracer wraps some in an object that says how to aggregate them: the value
// inside is meant.
PyObject* marker_value(PyObject* value) {
  if (PyLong_CheckExact(value) || PyFloat_CheckExact(value) || PyUnicode_CheckExact(value))
    return value_of(value);
  const char* kind = text_of_type((PyObject*)Py_TYPE(value));
  if (strcmp(kind, "TagValue") != 0) return value_of(value);
  PyObject* pair = PyObject_CallMethod(value, "value", NULL);
  const bool tagged = pair != NULL && PyTuple_Check(pair) && PyTuple_GET_SIZE(pair) == 2;
  if (pair == NULL) PyErr_Clear();
  PyObject* clean = value_of(tagged ? PyTuple_GET_ITEM(pair, 1) : value);
  Py_XDECREF(pair);
  return clean;
}

// Those that it was made with go into the dict when somebody asks for it: most are made, entered
// and gone. 0, or -1 with an exception set.
static int gather(struct marker* self) {
  if (self->arguments == NULL && (self->arguments = PyDict_New()) == NULL) return -1;
  for (int i = 0; i < kTold; i++) {
    if (self->told[i] == NULL) continue;
    if (PyDict_SetItem(self->arguments, marker_names[kFirstTold + i], self->told[i]) != 0)
      return -1;
    Py_CLEAR(self->told[i]);
  }
  return 0;
}

static bool has_arguments(const struct marker* self) {
  if (!takes_args) return false;
  for (int i = 0; i < kTold; i++) {
    if (self->told[i] != NULL) return true;
  }
  return self->arguments != NULL && PyDict_GET_SIZE(self->arguments) > 0;
}

static void send_one(PyObject* key, PyObject* value) {
  PyObject* clean = marker_value(value);
  if (clean != NULL) level_send(key, clean);
  Py_XDECREF(clean);
}

void marker_send(struct marker* self) {
  PyObject *given, *value;
  Py_ssize_t at = 0;
  if (!takes_args) return;
  for (int i = 0; i < kTold; i++) {
    if (self->told[i] != NULL) send_one(marker_names[kFirstTold + i], self->told[i]);
  }
  while (self->arguments != NULL && PyDict_Next(self->arguments, &at, &given, &value)) {
    PyObject* key = text_of(given);
    if (key != NULL) send_one(key, value);
    Py_XDECREF(key);
  }
  if (PyErr_Occurred() != NULL) PyErr_Clear();
}

// For a block that is not the innermost: they wait for its record.
static void leave_to_level(struct marker* self, struct level* level) {
  PyObject *given, *value;
  Py_ssize_t at = 0;
  if (level->arguments == NULL) level->arguments = PyDict_New();
  if (gather(self) != 0 || level->arguments == NULL) return PyErr_Clear();
  while (PyDict_Next(self->arguments, &at, &given, &value)) {
    PyObject *key = text_of(given), *clean = key != NULL ? marker_value(value) : NULL;
    if (clean == NULL || PyDict_SetItem(level->arguments, key, clean) != 0) PyErr_Clear();
    Py_XDECREF(key);
    Py_XDECREF(clean);
  }
}

// --- blocks

// Nearly every marker is entered once at a time: the first entry's room is in the marker itself.
static struct opened* room_for(struct marker* self) {
  if (self->first_taken) return malloc(sizeof(struct opened));
  self->first_taken = true;
  return &self->first;
}

static void give_back(struct marker* self, struct opened* one) {
  if (one == &self->first) {
    self->first_taken = false;
  } else {
    free(one);
  }
}

static PyObject* marker_enter(PyObject* object, PyObject* unused) {
  struct marker* self = (struct marker*)object;
  (void)unused;
  Py_INCREF(object);
  if (!self->on) return object;
  if (self->site == NULL) self->site = site_of(self->name, self->category);
  if (self->site == NULL) {
    PyErr_Clear();
    return object;
  }
  struct opened* one = room_for(self);
  if (one == NULL) return object;
  if (!level_begin(&one->level)) {
    give_back(self, one);
    return object;
  }
  one->outer = self->opened;
  self->opened = one;
  return object;
}

// The innermost one of this task, or else of this thread.
static struct opened** find_opened(struct marker* self) {
  struct opened** of_thread = NULL;
  const void* now = context_now();
  for (struct opened** at = &self->opened; *at != NULL; at = &(*at)->outer) {
    if ((*at)->level.chain != own_chain) continue;
    if ((*at)->level.context == now) return at;
    if (of_thread == NULL) of_thread = at;
  }
  return of_thread;
}

static bool close_one(struct marker* self, PyObject* exception) {
  struct opened** at = find_opened(self);
  if (at == NULL) return false;
  struct opened* one = *at;
  *at = one->outer;
  if (has_arguments(self)) {
    if (level_is_innermost(&one->level)) {
      marker_send(self);
    } else {
      leave_to_level(self, &one->level);
    }
  }
  level_end(&one->level, &self->site->site, exception);
  give_back(self, one);
  return true;
}

static PyObject* marker_exit(PyObject* object, PyObject* const* args, Py_ssize_t count) {
  struct marker* self = (struct marker*)object;
  if (self->opened != NULL) close_one(self, count > 0 && args[0] != Py_None ? args[0] : NULL);
  Py_RETURN_NONE;
}

// _close(): whether a block was open here, which ends early.
static PyObject* marker_close(PyObject* object, PyObject* unused) {
  (void)unused;
  return PyBool_FromLong(close_one((struct marker*)object, NULL));
}

static PyObject* marker_restart(PyObject* object, PyObject* unused) {
  (void)unused;
  ((struct marker*)object)->start_ns = marker_now_ns();
  Py_RETURN_NONE;
}

// --- the object

static int marker_traverse(PyObject* object, visitproc visit, void* arg) {
  struct marker* self = (struct marker*)object;
  Py_VISIT(self->attributes);
  Py_VISIT(self->category);
  Py_VISIT(self->name);
  Py_VISIT(self->asked);
  Py_VISIT(self->arguments);
  for (int i = 0; i < kTold; i++) Py_VISIT(self->told[i]);
  return 0;
}

static int marker_clear(PyObject* object) {
  struct marker* self = (struct marker*)object;
  Py_CLEAR(self->attributes);
  Py_CLEAR(self->arguments);
  for (int i = 0; i < kTold; i++) Py_CLEAR(self->told[i]);
  Py_CLEAR(self->asked);
  return 0;
}

// What is still open ends with the marker: nobody can close it later.
void marker_end(PyObject* object) {
  struct marker* self = (struct marker*)object;
  if (self->weak_references != NULL) PyObject_ClearWeakRefs(object);
  while (self->opened != NULL) {
    struct opened* one = self->opened;
    self->opened = one->outer;
    level_end(&one->level, &self->site->site, NULL);
    give_back(self, one);
  }
  marker_clear(object);
  Py_CLEAR(self->category);
  Py_CLEAR(self->name);
  Py_CLEAR(self->site);
}

static void marker_dealloc(PyObject* object) {
  PyObject_GC_UnTrack(object);
  marker_end(object);
  Py_TYPE(object)->tp_free(object);
}

static PyObject* get_arguments(PyObject* object, void* unused) {
  struct marker* self = (struct marker*)object;
  (void)unused;
  if (gather(self) != 0) return NULL;
  Py_INCREF(self->arguments);
  return self->arguments;
}

static int set_arguments(PyObject* object, PyObject* value, void* unused) {
  struct marker* self = (struct marker*)object;
  (void)unused;
  if (value == NULL || !PyDict_Check(value)) {
    PyErr_SetString(PyExc_TypeError, "arguments are a dict");
    return -1;
  }
  for (int i = 0; i < kTold; i++) Py_CLEAR(self->told[i]);
  Py_INCREF(value);
  Py_XSETREF(self->arguments, value);
  return 0;
}

static PyObject* get_start(PyObject* object, void* unused) {
  (void)unused;
  return PyLong_FromLongLong(((struct marker*)object)->start_ns / unit_ns);
}

static PyGetSetDef marker_attributes[] = {
    {"_arguments", get_arguments, set_arguments, NULL, NULL},
    {"_start", get_start, NULL, NULL, NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef marker_members[] = {
    {"_cat", T_OBJECT, offsetof(struct marker, category), READONLY, NULL},
    {"_name", T_OBJECT, offsetof(struct marker, name), READONLY, NULL},
    {"_enable", T_OBJECT, offsetof(struct marker, asked), 0, NULL},
    {"_on", T_BOOL, offsetof(struct marker, on), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyMethodDef marker_methods[] = {
    {"__enter__", marker_enter, METH_NOARGS, NULL},
    {"__exit__", FATHOM_METHOD(marker_exit), METH_FASTCALL, NULL},
    {"_close", marker_close, METH_NOARGS, NULL},
    {"_restart", marker_restart, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

PyTypeObject marker_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fathom._record.Marker",
    .tp_basicsize = sizeof(struct marker),
    .tp_dealloc = marker_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_traverse = marker_traverse,
    .tp_clear = marker_clear,
    .tp_methods = marker_methods,
    .tp_members = marker_members,
    .tp_getset = marker_attributes,
    .tp_dictoffset = offsetof(struct marker, attributes),
    .tp_weaklistoffset = offsetof(struct marker, weak_references),
    .tp_init = marker_init,
    .tp_new = PyType_GenericNew,
};
