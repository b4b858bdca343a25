// SPDX-License-Identifier: MIT
// fathom._record: the recording half of the Python package, on top of libfathom.so. Where that is
// not in the process, nothing is recorded and every call returns at once.
#include "sources/python/block.h"
#include "sources/python/code.h"
#include "sources/python/level.h"
#include "sources/python/marker.h"
#include "sources/python/site.h"
#include "sources/python/stepped.h"
#include "sources/python/text.h"
#include "sources/python/told.h"
#include "sources/python/traced.h"
#include "sources/python/tracer.h"

static bool takes(const char* function, Py_ssize_t given, Py_ssize_t wanted) {
  if (given == wanted) return true;
  PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments (%zd given)", function, wanted, given);
  return false;
}

static PyObject* nothing_or(bool failed) {
  if (failed) return NULL;
  Py_RETURN_NONE;
}

static PyObject* tell_argument(PyObject* module, PyObject* const* args, Py_ssize_t count) {
  (void)module;
  if (!takes("arg", count, 2)) return NULL;
  if (!abi_is_bound() || !level_is_open()) Py_RETURN_NONE;
  PyObject *key = text_of(args[0]), *value = key != NULL ? value_of(args[1]) : NULL;
  const bool failed = value == NULL || level_argument(key, value) != 0;
  Py_XDECREF(key);
  Py_XDECREF(value);
  return nothing_or(failed);
}

static void count_number(struct fathom_site* site, PyObject* number) {
  if (PyFloat_Check(number)) return abi.counter_double(site, PyFloat_AS_DOUBLE(number));
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow == 0) return abi.counter_int(site, value);
  const double nearest = PyLong_AsDouble(number);
  if (nearest == -1.0 && PyErr_Occurred()) return PyErr_Clear();  // beyond what a double can be
  abi.counter_double(site, nearest);
}

// Numbers of others (NumPy's, tensors) are asked for theirs. What is none is refused, recorded or
// not, so that a program does not fail only when somebody looks.
static PyObject* tell_counter(PyObject* module, PyObject* const* args, Py_ssize_t count) {
  (void)module;
  if (!takes("counter", count, 2)) return NULL;
  const bool plain = PyFloat_Check(args[1]) || PyLong_Check(args[1]);
  PyObject* number = args[1];
  if (!plain) number = PyIndex_Check(number) ? PyNumber_Index(number) : PyNumber_Float(number);
  if (number == NULL) return NULL;
  struct site* site = abi_is_bound() ? site_named(args[0], NULL) : NULL;
  if (site != NULL) count_number(&site->site, number);
  Py_XDECREF(site);
  if (!plain) Py_DECREF(number);
  return nothing_or(PyErr_Occurred() != NULL);
}

static PyObject* tell_instant(PyObject* module, PyObject* name) {
  (void)module;
  if (!abi_is_bound()) Py_RETURN_NONE;
  struct site* site = site_named(name, NULL);
  if (site == NULL) return NULL;
  abi.instant(&site->site);
  Py_DECREF(site);
  Py_RETURN_NONE;
}

static PyObject* tell_metadata(PyObject* module, PyObject* const* args, Py_ssize_t count) {
  (void)module;
  if (!takes("metadata", count, 2)) return NULL;
  if (!abi_is_bound()) Py_RETURN_NONE;
  PyObject *key = text_of(args[0]), *value = key != NULL ? text_of(args[1]) : NULL;
  if (value != NULL) abi.metadata(PyUnicode_AsUTF8(key), PyUnicode_AsUTF8(value));
  Py_XDECREF(key);
  Py_XDECREF(value);
  return nothing_or(value == NULL);
}

static PyObject* load(PyObject* module, PyObject* path) {
  PyObject* bytes;
  (void)module;
  if (!PyUnicode_FSConverter(path, &bytes)) return NULL;
  const bool loaded = abi_load(PyBytes_AS_STRING(bytes));
  Py_DECREF(bytes);
  return PyBool_FromLong(loaded);
}

static PyObject* is_bound(PyObject* module, PyObject* unused) {
  (void)module;
  (void)unused;
  return PyBool_FromLong(abi_is_bound());
}

// Tracing of functions goes on or pauses, where libfathom.so has begun it. Whether it is on then.
static PyObject* set_tracing(PyObject* module, PyObject* wanted) {
  (void)module;
  const int on = PyObject_IsTrue(wanted);
  if (on < 0) return NULL;
  if (frames == NULL) Py_RETURN_FALSE;
  if (!on) tracer_stop();
  const bool traces = on && tracer_start() == NULL;
  PyErr_Clear();
  return PyBool_FromLong(traces);
}

static PyMethodDef functions[] = {
    {"wrap", make_traced, METH_VARARGS, NULL},
    {"load", load, METH_O, NULL},
    {"is_bound", is_bound, METH_NOARGS, NULL},
    {"tracing", set_tracing, METH_O, NULL},
    {"region", FATHOM_METHOD(make_block), METH_FASTCALL | METH_KEYWORDS,
     "region(name, /, *, category=None, **arguments)\n--\n\n"
     "A block as an event: with region('load', file=path): …"},
    {"iter", FATHOM_METHOD(make_loop), METH_FASTCALL,
     "iter(iterable, name, /)\n--\n\nEvery turn of a loop as an event: for x in iter(items, "
     "'step'): …"},
    {"arg", FATHOM_METHOD(tell_argument), METH_FASTCALL,
     "arg(key, value, /)\n--\n\nAn argument of the innermost open region; the last one of a key "
     "counts."},
    {"counter", FATHOM_METHOD(tell_counter), METH_FASTCALL,
     "counter(name, value, /)\n--\n\nA value that changes over time."},
    {"instant", tell_instant, METH_O, "instant(name, /)\n--\n\nA moment."},
    {"tell", told_add, METH_VARARGS, NULL},
    {"set_up_markers", marker_set_up, METH_VARARGS, NULL},
    {"quicken", marker_quicken, METH_O, NULL},
    {"metadata", FATHOM_METHOD(tell_metadata), METH_FASTCALL,
     "metadata(key, value, /)\n--\n\nA fact of the process."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "fathom._record",
    .m_size = -1,
    .m_methods = functions,
};

// 3.8 does not export it by itself.
__attribute__((visibility("default"))) PyMODINIT_FUNC PyInit__record(void) {
  PyTypeObject* const types[] = {
      &site_type,
      &block_type,
      &loop_type,
      &traced_type,
      &generator_type,
      &coroutine_type,
      &iterable_coroutine_type,
      &async_generator_type,
      &async_step_type,
      &traced_callable_type,
      &marker_type,
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (PyType_Ready(types[i]) != 0) return NULL;
  }
  sites_forget();
  block_forget();
  abi_bind();
  PyObject* module = marker_prepare() ? PyModule_Create(&definition) : NULL;
  if (module == NULL) return NULL;
  Py_INCREF(&marker_type);
  if (PyModule_AddObject(module, "Marker", (PyObject*)&marker_type) == 0) return module;
  Py_DECREF(&marker_type);
  Py_DECREF(module);
  return NULL;
}
