// SPDX-License-Identifier: MIT
// Making a marker. They are made anew for each block (`with dft_fn("IO", name="load"):`), so that
// is what has to be cheap: a class that was quickened makes one without a tuple, a dict or a frame
// of Python.
#include <time.h>

#include "sources/python/marker.h"

int64_t marker_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

struct parameters {
  PyObject* given[kParameters];  // borrowed; NULL: not given
};

static bool put_keyword(struct parameters* to, PyObject* key, PyObject* value) {
  int at = 0;
  while (at < kParameters && marker_names[at] != key) at++;
  for (int i = 0; at == kParameters && i < kParameters; i++) {
    if (PyUnicode_Compare(marker_names[i], key) == 0) at = i;
  }
  if (at == kParameters || to->given[at] != NULL) {
    PyErr_Format(PyExc_TypeError,
                 at == kParameters ? "unexpected keyword argument '%U'"
                                   : "multiple values for argument '%U'",
                 key);
    return false;
  }
  to->given[at] = value;
  return true;
}

static bool put_positional(struct parameters* to, PyObject* const* args, Py_ssize_t count) {
  if (count <= kParameters) {
    for (Py_ssize_t i = 0; i < count; i++) to->given[i] = args[i];
    return true;
  }
  PyErr_Format(PyExc_TypeError, "at most %d arguments are taken, %zd were given", kParameters,
               count);
  return false;
}

// The function that makes a block without a name gives it its own.
static PyObject* name_of_caller(void) {
  PyObject* frame = (PyObject*)PyEval_GetFrame();
  PyObject* code = frame != NULL ? PyObject_GetAttrString(frame, "f_code") : NULL;
  PyObject* name = code != NULL ? PyObject_GetAttrString(code, "co_name") : NULL;
  Py_XDECREF(code);
  return name;
}

static void set(PyObject** place, PyObject* value) {
  PyObject* old = *place;
  Py_XINCREF(value);
  *place = value;
  Py_XDECREF(old);
}

static int fill(struct marker* self, const struct parameters* from) {
  if (from->given[kCategory] == NULL) {
    PyErr_SetString(PyExc_TypeError, "the argument 'cat' is missing");
    return -1;
  }
  PyObject *enable = from->given[kEnable], *name = from->given[kName];
  const int on = enable == NULL || enable == Py_True ? 1 : PyObject_IsTrue(enable);
  const int named = name == NULL || name == Py_None ? 0 : PyObject_IsTrue(name);
  if (on < 0 || named < 0) return -1;
  set(&self->category, from->given[kCategory]);
  set(&self->asked, enable != NULL ? enable : Py_True);
  if (named) {
    set(&self->name, name);
  } else {
    Py_XSETREF(self->name, name_of_caller());
    if (self->name == NULL) return -1;
  }
  self->on = on && abi_is_bound();
  if (!self->on) return 0;
  for (int i = kFirstTold; i < kEnable; i++) {
    if (from->given[i] != NULL && from->given[i] != Py_None)
      set(&self->told[i - kFirstTold], from->given[i]);
  }
  self->start_ns = marker_now_ns();
  return 0;
}

int marker_init(PyObject* object, PyObject* args, PyObject* keywords) {
  struct parameters from = {{NULL}};
  PyObject *key, *value;
  Py_ssize_t at = 0;
  if (!put_positional(&from, ((PyTupleObject*)args)->ob_item, PyTuple_GET_SIZE(args))) return -1;
  while (keywords != NULL && PyDict_Next(keywords, &at, &key, &value)) {
    if (!put_keyword(&from, key, value)) return -1;
  }
  return fill((struct marker*)object, &from);
}

// --- objects that are used again

// A block's object is gone when the block is left, and the next one is made soon. All of them have
// the same size, whatever quickened class they are of.
enum { kSpares = 16 };
static struct marker* spares[kSpares];
static int spare_count;

void marker_forget_spares(void) { spare_count = 0; }

static bool has_usual_size(const PyTypeObject* type) {
  return type->tp_basicsize == marker_type.tp_basicsize && type->tp_itemsize == 0;
}

static PyObject* new_marker(PyTypeObject* type) {
  if (spare_count == 0) return type->tp_alloc(type, 0);
  PyObject* object = PyObject_Init((PyObject*)spares[--spare_count], type);
  PyObject_GC_Track(object);
  return object;
}

// Of quickened classes: as Python's own for classes, and without its detours. A class that was made
// in Python leaves its reference to us.
static void dealloc_quickly(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type->tp_finalize != NULL && PyObject_CallFinalizerFromDealloc(object) != 0) return;
  PyObject_GC_UnTrack(object);
  marker_end(object);
  // Python remembers in an object's memory that its __del__ was called.
  if (spare_count < kSpares && has_usual_size(type) && type->tp_finalize == NULL) {
    spares[spare_count++] = (struct marker*)object;
  } else {
    type->tp_free(object);
  }
  Py_DECREF(type);
}

// As `class(…)`, by vectorcall.
static PyObject* make_quickly(PyObject* class, PyObject* const* args, size_t count,
                              PyObject* keywords) {
  struct parameters from = {{NULL}};
  const Py_ssize_t positional = PyVectorcall_NARGS(count);
  if (!put_positional(&from, args, positional)) return NULL;
  const Py_ssize_t named = keywords != NULL ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t i = 0; i < named; i++) {
    if (!put_keyword(&from, PyTuple_GET_ITEM(keywords, i), args[positional + i])) return NULL;
  }
  PyObject* object = new_marker((PyTypeObject*)class);
  if (object != NULL && fill((struct marker*)object, &from) != 0) Py_CLEAR(object);
  return object;
}

PyObject* marker_quicken(PyObject* module, PyObject* class) {
  (void)module;
  PyTypeObject* type = (PyTypeObject*)class;
  const bool ours = PyType_Check(class) && PyType_IsSubtype(type, &marker_type);
  if (ours && type->tp_init == marker_init && type->tp_new == marker_type.tp_new &&
      has_usual_size(type)) {
    type->tp_vectorcall = make_quickly;
    type->tp_dealloc = dealloc_quickly;
  }
  Py_RETURN_NONE;
}
