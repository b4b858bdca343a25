// SPDX-License-Identifier: MIT
// Arguments of a call that are told with it: they go straight
// into the recording, and no dict is made of a call. Which ones is settled when the function is
// decorated, by place and by name. What fails here is none of the program's business: an attribute
// that raises, a text that cannot be made, is left out, and the exception is cleared.
#include "sources/python/told.h"

#include <stdlib.h>

#include "sources/python/text.h"
#include "sources/python/traced.h"

enum { kMost = 8 };

struct told {
  Py_ssize_t count;
  bool method;
  struct marker* marker;  // or NULL
  struct {
    PyObject* name;
    PyObject* otherwise;  // or NULL
    Py_ssize_t place;     // or -1
  } of[kMost];
};

bool told_is_on(const struct told* told) { return told->marker == NULL || told->marker->on; }

// Names of keywords are nearly always the very objects of the code, so that comparing pointers is
// enough.
static PyObject* by_keyword(PyObject* name, PyObject* const* values, PyObject* names) {
  const Py_ssize_t count = names != NULL ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject* key = PyTuple_GET_ITEM(names, i);
    if (key == name || PyUnicode_Compare(key, name) == 0) return values[i];
  }
  return NULL;
}

// What the object says of itself: a new reference, or NULL.
static PyObject* of_object(PyObject* object, PyObject* name) {
  PyObject* value = NULL;
#if PY_VERSION_HEX >= 0x030D0000
  (void)PyObject_GetOptionalAttr(object, name, &value);
#else
  (void)_PyObject_LookupAttr(object, name, &value);
#endif
  if (value == NULL || (value != Py_None && !PyCallable_Check(value))) return value;
  Py_DECREF(value);
  return NULL;
}

static void send_value(PyObject* name, PyObject* value) {
  PyObject* clean = value != Py_None ? marker_value(value) : NULL;
  if (clean != NULL) level_send(name, clean);
  Py_XDECREF(clean);
}

void told_send(const struct told* told, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (told->marker != NULL) marker_send(told->marker);
  for (Py_ssize_t i = 0; i < told->count; i++) {
    PyObject* const name = told->of[i].name;
    const Py_ssize_t place = told->of[i].place;
    PyObject* value = NULL;
    if (place >= 0) value = place < count ? args[place] : by_keyword(name, args + count, names);
    if (value == NULL) value = told->of[i].otherwise;
    if (value != NULL) {
      send_value(name, value);
    } else if (told->method && count > 0 && (value = of_object(args[0], name)) != NULL) {
      send_value(name, value);
      Py_DECREF(value);
    }
  }
  if (PyErr_Occurred() != NULL) PyErr_Clear();
}

int told_traverse(const struct told* told, visitproc visit, void* arg) {
  if (told == NULL) return 0;
  Py_VISIT(told->marker);
  for (Py_ssize_t i = 0; i < told->count; i++) Py_VISIT(told->of[i].otherwise);
  return 0;
}

void told_free(struct told* told) {
  if (told == NULL) return;
  Py_XDECREF(told->marker);
  for (Py_ssize_t i = 0; i < told->count; i++) {
    Py_XDECREF(told->of[i].name);
    Py_XDECREF(told->of[i].otherwise);
  }
  free(told);
}

static bool add_one(struct told* told, PyObject* name, PyObject* place, PyObject* otherwise) {
  const Py_ssize_t number = PyLong_AsSsize_t(place);
  PyObject* text = text_of(name);
  if (text == NULL || (number == -1 && PyErr_Occurred())) {
    Py_XDECREF(text);
    return false;
  }
  if (otherwise == Py_Ellipsis) otherwise = NULL;
  Py_XINCREF(otherwise);
  told->of[told->count].name = text;
  told->of[told->count].place = number;
  told->of[told->count++].otherwise = otherwise;
  return true;
}

PyObject* told_add(PyObject* module, PyObject* args) {
  PyObject *object, *names, *places, *defaults, *marker;
  int method;
  (void)module;
  if (!PyArg_ParseTuple(args, "OO!O!O!pO:tell", &object, &PyTuple_Type, &names, &PyTuple_Type,
                        &places, &PyTuple_Type, &defaults, &method, &marker))
    return NULL;
  const Py_ssize_t count = PyTuple_GET_SIZE(names);
  const bool fits =
      count <= kMost && PyTuple_GET_SIZE(places) == count && PyTuple_GET_SIZE(defaults) == count;
  struct told* told = fits ? calloc(1, sizeof *told) : NULL;
  if (told == NULL) return fits ? PyErr_NoMemory() : (PyErr_BadArgument(), NULL);
  bool right = true;
  for (Py_ssize_t i = 0; i < count && right; i++)
    right = add_one(told, PyTuple_GET_ITEM(names, i), PyTuple_GET_ITEM(places, i),
                    PyTuple_GET_ITEM(defaults, i));
  told->method = method != 0;
  if (PyObject_TypeCheck(marker, &marker_type)) {
    Py_INCREF(marker);
    told->marker = (struct marker*)marker;
  }
  if (right && traced_tell(object, told)) Py_RETURN_NONE;
  told_free(told);
  return NULL;
}
