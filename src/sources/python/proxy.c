// SPDX-License-Identifier: MIT
// Attribute access that falls through to the wrapped object, so that a decorated generator looks
// like the one that it stands for.
#include "sources/python/proxy.h"

static PyObject* inner_of(PyObject* object) { return ((struct proxy*)object)->inner; }

PyObject* proxy_get(PyObject* object, PyObject* name) {
  PyObject* own = PyObject_GenericGetAttr(object, name);
  if (own != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError)) return own;
  PyErr_Clear();
  return PyObject_GetAttr(inner_of(object), name);
}

int proxy_set(PyObject* object, PyObject* name, PyObject* value) {
  return PyObject_SetAttr(inner_of(object), name, value);
}

PyObject* proxy_repr(PyObject* object) { return PyObject_Repr(inner_of(object)); }

PyObject* proxy_named(PyObject* object, void* name) {
  return PyObject_GetAttrString(inner_of(object), name);
}

int proxy_set_named(PyObject* object, PyObject* value, void* name) {
  return PyObject_SetAttrString(inner_of(object), name, value);
}

PyObject* proxy_class(PyObject* object, void* unused) {
  PyObject* type = (PyObject*)Py_TYPE(inner_of(object));
  (void)unused;
  Py_INCREF(type);
  return type;
}
