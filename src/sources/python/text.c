// SPDX-License-Identifier: MIT
// Python objects as UTF-8 without NUL. A failing __str__ of the program becomes a placeholder:
// without us the program would not have seen the exception.
#include "sources/python/text.h"

#include <string.h>

// What a failing __str__ gives. It is the program's own fault, but it would not see it without us.
static PyObject* unprintable(PyObject* object) {
  if (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError))
    return NULL;
  PyErr_Clear();
  return PyUnicode_FromFormat("<unprintable %s object>", Py_TYPE(object)->tp_name);
}

static PyObject* printed(PyObject* object) {
  if (PyUnicode_CheckExact(object)) {
    Py_INCREF(object);
    return object;
  }
  PyObject* text;
  if (PyBytes_Check(object) || PyByteArray_Check(object)) {
    text = PyUnicode_FromEncodedObject(object, "utf-8", "backslashreplace");
  } else {
    text = PyObject_Str(object);
  }
  if (text == NULL) return unprintable(object);
  if (PyUnicode_CheckExact(text)) return text;
  PyObject* plain = PyUnicode_FromObject(text);
  Py_DECREF(text);
  return plain;
}

static PyObject* without_surrogates(PyObject* text) {
  PyObject* bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
  Py_DECREF(text);
  if (bytes == NULL) return NULL;
  text = PyUnicode_FromEncodedObject(bytes, "utf-8", "strict");
  Py_DECREF(bytes);
  return text;
}

static PyObject* without_nul(PyObject* text) {
  PyObject *nul = PyUnicode_FromStringAndSize("", 1), *escaped = PyUnicode_FromString("\\x00");
  PyObject* clean =
      nul != NULL && escaped != NULL ? PyUnicode_Replace(text, nul, escaped, -1) : NULL;
  Py_XDECREF(nul);
  Py_XDECREF(escaped);
  Py_DECREF(text);
  return clean;
}

PyObject* text_of(PyObject* object) {
  PyObject* text = printed(object);
  Py_ssize_t length = 0;
  const char* bytes = text != NULL ? PyUnicode_AsUTF8AndSize(text, &length) : NULL;
  if (bytes == NULL && text != NULL && PyErr_ExceptionMatches(PyExc_UnicodeError)) {
    PyErr_Clear();
    text = without_surrogates(text);
    bytes = text != NULL ? PyUnicode_AsUTF8AndSize(text, &length) : NULL;
  }
  if (bytes == NULL) {
    Py_XDECREF(text);
    return NULL;
  }
  return memchr(bytes, 0, (size_t)length) == NULL ? text : without_nul(text);
}

static bool fits(PyObject* number) {
  int overflow = 0;
  PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow <= 0) return overflow == 0;
  PyLong_AsUnsignedLongLong(number);
  const bool fits = PyErr_Occurred() == NULL;
  PyErr_Clear();
  return fits;
}

PyObject* value_of(PyObject* value) {
  if (PyFloat_CheckExact(value) || (PyLong_CheckExact(value) && fits(value))) {
    Py_INCREF(value);
    return value;
  }
  return text_of(value);
}

const char* text_of_type(PyObject* type) {
  if (!PyType_Check(type)) return "?";
  const char* name = ((PyTypeObject*)type)->tp_name;
  const char* dot = strrchr(name, '.');
  return dot != NULL ? dot + 1 : name;
}
