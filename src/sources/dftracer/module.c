// SPDX-License-Identifier: MIT
// dftracer.dftracer: the native module of DFTracer, on top of libfathom.so (<fathom/dftracer.h>).
// The library comes into the process by dftracer/_library.py; without it everything here does
// nothing.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlfcn.h>
#include <fathom/dftracer.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kMostSites = 4096 };  // a program that makes up names as it goes shall not fill memory

// What is bound when the library is there.
static struct {
  int (*enabled)(void);
  int (*takes_args)(void);
  const char* (*config)(const char* variable);
  int (*initialize)(const struct fathom_dftracer_start* start);
  void (*finalize)(void);
  struct fathom_region (*event_begin)(void);
  void (*event_end)(struct fathom_site* site, struct fathom_region region, int64_t start_us,
                    int64_t duration_us);
  void (*arg_int)(const char* key, int64_t value);
  void (*arg_uint)(const char* key, uint64_t value);
  void (*arg_double)(const char* key, double value);
  void (*arg_text)(const char* key, const char* value);
  void (*metadata)(const char* key, const char* value);
} library;

static const struct {
  const char* symbol;
  void* slot;
} kSymbols[] = {
    {"fathom_dftracer_enabled", &library.enabled},
    {"fathom_dftracer_takes_args", &library.takes_args},
    {"fathom_dftracer_config", &library.config},
    {"fathom_dftracer_initialize", &library.initialize},
    {"fathom_dftracer_finalize", &library.finalize},
    {"fathom_dftracer_event_begin", &library.event_begin},
    {"fathom_arg_int", &library.arg_int},
    {"fathom_arg_uint", &library.arg_uint},
    {"fathom_arg_double", &library.arg_double},
    {"fathom_arg_text", &library.arg_text},
    {"fathom_dftracer_metadata", &library.metadata},
    {"fathom_dftracer_event_end", &library.event_end},  // the last: then all of them are there
};

static bool is_bound(void) { return library.event_end != NULL; }

static long long unit_ns = 1000;  // of get_time(), and of the times that the program hands back

static void learn_unit(void) {
  const char* metric = library.config("DFTRACER_TIME_METRIC");
  if (metric == NULL) return;
  unit_ns = *metric == 'N' ? 1 : *metric == 'M' ? 1000000 : *metric == 'S' ? 1000000000 : 1000;
}

static bool bind(void) {
  for (size_t i = 0; i < sizeof kSymbols / sizeof *kSymbols; i++) {
    void* function = dlsym(RTLD_DEFAULT, kSymbols[i].symbol);
    if (function == NULL) return false;
    memcpy(kSymbols[i].slot, &function, sizeof function);
  }
  learn_unit();
  return true;
}

// Whether the library is here, after an attempt to load it.
static bool load(void) {
  if (is_bound()) return true;
  PyObject* loader = PyImport_ImportModule("dftracer._library");
  PyObject* loaded = loader != NULL ? PyObject_CallMethod(loader, "load", NULL) : NULL;
  Py_XDECREF(loader);
  Py_XDECREF(loaded);
  PyErr_Clear();  // a program is not stopped for that
  return bind();
}

// A text as bytes that C takes; what UTF-8 cannot say is escaped. NULL with an exception set.
static PyObject* bytes_of(PyObject* value) {
  PyObject* text = PyUnicode_Check(value) ? (Py_INCREF(value), value) : PyObject_Str(value);
  if (text == NULL) return NULL;
  PyObject* bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
  Py_DECREF(text);
  return bytes;
}

static void free_site(PyObject* capsule) {
  struct fathom_site* site = PyCapsule_GetPointer(capsule, NULL);
  if (site == NULL) return PyErr_Clear();
  free((void*)site->name);
  free((void*)site->category);
  free(site);
}

static struct fathom_site* new_site(PyObject* name, PyObject* category) {
  PyObject *name_bytes = bytes_of(name), *category_bytes = bytes_of(category);
  struct fathom_site* site = calloc(1, sizeof *site);
  if (site != NULL && name_bytes != NULL && category_bytes != NULL) {
    site->name = strdup(PyBytes_AS_STRING(name_bytes));
    site->category = strdup(PyBytes_AS_STRING(category_bytes));
  }
  Py_XDECREF(name_bytes);
  Py_XDECREF(category_bytes);
  if (site != NULL && site->name != NULL && site->category != NULL) return site;
  if (site != NULL) free((void*)site->name);
  free(site);
  if (!PyErr_Occurred()) PyErr_NoMemory();
  return NULL;
}

static PyObject* sites;  // by name and category, of this interpreter

static struct fathom_site* site_of(PyObject* name, PyObject* category) {
  if (sites == NULL && (sites = PyDict_New()) == NULL) return NULL;
  PyObject* key = PyTuple_Pack(2, name, category);
  PyObject* known = key != NULL ? PyDict_GetItemWithError(sites, key) : NULL;
  struct fathom_site* site = NULL;
  if (known != NULL) {
    site = PyCapsule_GetPointer(known, NULL);
  } else if (key != NULL && !PyErr_Occurred() && (site = new_site(name, category)) != NULL) {
    if (PyDict_GET_SIZE(sites) >= kMostSites) PyDict_Clear(sites);
    PyObject* capsule = PyCapsule_New(site, NULL, free_site);
    if (capsule == NULL || PyDict_SetItem(sites, key, capsule) != 0) site = NULL;
    Py_XDECREF(capsule);
  }
  Py_XDECREF(key);
  return site;
}

static void send_number(const char* key, PyObject* value) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow == 0) return library.arg_int(key, number);
  const unsigned long long large = PyLong_AsUnsignedLongLong(value);
  if (!PyErr_Occurred()) return library.arg_uint(key, large);
  PyErr_Clear();
  PyObject* text = bytes_of(value);
  if (text != NULL) library.arg_text(key, PyBytes_AS_STRING(text));
  Py_XDECREF(text);
}

// A value is itself, or stands behind its tag: (tag, value).
static int send_argument(PyObject* name, PyObject* value) {
  if (PyTuple_Check(value) && PyTuple_GET_SIZE(value) == 2) value = PyTuple_GET_ITEM(value, 1);
  PyObject* key = bytes_of(name);
  if (key == NULL) return -1;
  if (PyFloat_Check(value)) {
    library.arg_double(PyBytes_AS_STRING(key), PyFloat_AS_DOUBLE(value));
  } else if (PyLong_CheckExact(value)) {
    send_number(PyBytes_AS_STRING(key), value);
  } else {
    PyObject* text = bytes_of(value);
    if (text != NULL) library.arg_text(PyBytes_AS_STRING(key), PyBytes_AS_STRING(text));
    Py_XDECREF(text);
  }
  Py_DECREF(key);
  return PyErr_Occurred() ? -1 : 0;
}

static void send_arguments(PyObject* arguments) {
  PyObject *key, *value;
  Py_ssize_t at = 0;
  if (arguments == NULL || !PyDict_Check(arguments)) return;
  while (PyDict_Next(arguments, &at, &key, &value)) {
    if (send_argument(key, value) != 0) PyErr_Clear();  // tracing is no reason to fail
  }
}

static PyObject* log_event(PyObject* module, PyObject* args, PyObject* names) {
  static char* keywords[] = {"name",        "cat",        "start_time", "duration", "int_args",
                             "string_args", "float_args", "relations",  NULL};
  PyObject *name, *category, *ints = NULL, *texts = NULL, *floats = NULL, *relations = NULL;
  long long start, duration;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(args, names, "OOLL|OOOO:log_event", keywords, &name, &category,
                                   &start, &duration, &ints, &texts, &floats, &relations))
    return NULL;
  if (!is_bound()) Py_RETURN_NONE;
  struct fathom_site* site = site_of(name, category);
  if (site == NULL) return NULL;
  const struct fathom_region region = library.event_begin();
  if (region.begin == 0) Py_RETURN_NONE;
  if (library.takes_args()) {
    send_arguments(ints);
    send_arguments(floats);
    send_arguments(texts);
    send_arguments(relations);
  }
  library.event_end(site, region, start, duration);
  Py_RETURN_NONE;
}

// begin(log_file, data_dirs, process_id, generation): whether recording has begun.
static PyObject* begin(PyObject* module, PyObject* args) {
  const char *log_file, *data_dirs;
  int process_id, generation;
  (void)module;
  if (!PyArg_ParseTuple(args, "zzii:begin", &log_file, &data_dirs, &process_id, &generation))
    return NULL;
  if (!load()) Py_RETURN_FALSE;
  const struct fathom_dftracer_start start = {log_file, data_dirs, process_id, generation, 0};
  int begun;
  Py_BEGIN_ALLOW_THREADS;
  begun = library.initialize(&start);
  Py_END_ALLOW_THREADS;
  return PyBool_FromLong(begun);
}

static PyObject* initialize(PyObject* module, PyObject* args, PyObject* names) {
  static char* keywords[] = {"log_file", "data_dirs", "process_id", NULL};
  PyObject *log_file = Py_None, *data_dirs = Py_None;
  int process_id = -1;
  if (!PyArg_ParseTupleAndKeywords(args, names, "|OOi:initialize", keywords, &log_file, &data_dirs,
                                   &process_id))
    return NULL;
  PyObject* all = Py_BuildValue("(OOii)", log_file, data_dirs, process_id, 2);
  PyObject* begun = all != NULL ? begin(module, all) : NULL;
  Py_XDECREF(all);
  if (begun == NULL) return NULL;
  Py_DECREF(begun);
  Py_RETURN_NONE;
}

static PyObject* finalize(PyObject* module, PyObject* unused) {
  (void)module;
  (void)unused;
  if (!is_bound()) Py_RETURN_NONE;
  Py_BEGIN_ALLOW_THREADS;
  library.finalize();
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

static PyObject* get_time(PyObject* module, PyObject* unused) {
  struct timespec now;
  (void)module;
  (void)unused;
  clock_gettime(CLOCK_REALTIME, &now);
  return PyLong_FromLongLong(((long long)now.tv_sec * 1000000000 + now.tv_nsec) / unit_ns);
}

// Levels are told by the events themselves, thread by thread.
static PyObject* nothing(PyObject* module, PyObject* unused) {
  (void)module;
  (void)unused;
  Py_RETURN_NONE;
}

static PyObject* log_metadata_event(PyObject* module, PyObject* args, PyObject* names) {
  static char* keywords[] = {"key", "value", NULL};
  PyObject *key, *value;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(args, names, "OO:log_metadata_event", keywords, &key, &value))
    return NULL;
  if (!is_bound()) Py_RETURN_NONE;
  PyObject *key_bytes = bytes_of(key), *value_bytes = bytes_of(value);
  const bool both = key_bytes != NULL && value_bytes != NULL;
  if (both) library.metadata(PyBytes_AS_STRING(key_bytes), PyBytes_AS_STRING(value_bytes));
  Py_XDECREF(key_bytes);
  Py_XDECREF(value_bytes);
  if (!both) return NULL;
  Py_RETURN_NONE;
}

// Which parts of DFTracer a program uses is told by its events.
static PyObject* mark_used(PyObject* module, PyObject* name) {
  (void)module;
  (void)name;
  Py_RETURN_NONE;
}

static PyObject* get_config(PyObject* module, PyObject* key) {
  (void)module;
  const char* variable = PyUnicode_AsUTF8(key);
  if (variable == NULL) return NULL;
  const char* value = load() ? library.config(variable) : NULL;
  if (value == NULL) value = getenv(variable);
  return PyUnicode_DecodeFSDefault(value != NULL ? value : "");
}

static PyObject* enabled(PyObject* module, PyObject* unused) {
  (void)module;
  (void)unused;
  return PyBool_FromLong(load() && library.enabled());
}

static PyObject* takes_args(PyObject* module, PyObject* unused) {
  (void)module;
  (void)unused;
  return PyBool_FromLong(load() && library.takes_args());
}

#define METHOD(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef functions[] = {
    {"begin", begin, METH_VARARGS, NULL},
    {"enabled", enabled, METH_NOARGS, NULL},
    {"takes_args", takes_args, METH_NOARGS, NULL},
    {"initialize", METHOD(initialize), METH_VARARGS | METH_KEYWORDS,
     "initialize(log_file=None, data_dirs=None, process_id=-1)\n--\n\nRecording begins."},
    {"finalize", finalize, METH_NOARGS, "finalize()\n--\n\nRecording ends; the file is complete."},
    {"get_time", get_time, METH_NOARGS,
     "get_time()\n--\n\nTime since 1970, in the unit of DFTRACER_TIME_METRIC."},
    {"enter_event", nothing, METH_NOARGS, NULL},
    {"exit_event", nothing, METH_NOARGS, NULL},
    {"log_event", METHOD(log_event), METH_VARARGS | METH_KEYWORDS,
     "log_event(name, cat, start_time, duration, int_args=None, string_args=None, "
     "float_args=None, relations=None)\n--\n\nAn event whose times the program took itself."},
    {"log_metadata_event", METHOD(log_metadata_event), METH_VARARGS | METH_KEYWORDS,
     "log_metadata_event(key, value)\n--\n\nA fact about this process."},
    {"set_app_metadata_int", METHOD(log_metadata_event), METH_VARARGS | METH_KEYWORDS,
     "set_app_metadata_int(key, value)\n--\n\nA number about this process."},
    {"set_app_metadata_string", METHOD(log_metadata_event), METH_VARARGS | METH_KEYWORDS,
     "set_app_metadata_string(key, value)\n--\n\nA text about this process."},
    {"mark_used", mark_used, METH_O, "mark_used(name, /)\n--\n\nNothing: events tell it."},
    {"get_config", get_config, METH_O,
     "get_config(key, /)\n--\n\nWhat a variable DFTRACER_* says."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "dftracer.dftracer",
                                        .m_size = -1, .m_methods = functions};

// 3.8 does not export it by itself.
__attribute__((visibility("default"))) PyMODINIT_FUNC PyInit_dftracer(void) {
  sites = NULL;
  return PyModule_Create(&definition);
}
