// SPDX-License-Identifier: MIT
// A decorated function: one vectorcall between two calls of the library, for a call of it must cost
// nanoseconds, not a Python frame. It looks like the function that it wraps in every way that
// programs ask (name, signature, attributes, binding to an instance), and pickles and copies as
// that: programs are not to notice. Coroutines and generators return at once, so their steps are
// what is timed (stepped.c).
#include "sources/python/traced.h"

#include "sources/python/abi.h"
#include "sources/python/level.h"
#include "sources/python/proxy.h"
#include "sources/python/stepped.h"
#include "sources/python/text.h"
#include "sources/python/told.h"

// Inside the function's own event, which has not ended yet. The exception stays raised.
static void tell_exception(struct fathom_region region) {
  PyObject* exception = PyErr_Occurred();
  if (exception == NULL) return;
  abi.levels_set(region.depth + 1);
  abi.arg_text("exception", text_of_type(exception));
}

// Whoever calls holds a reference to the callable, and so to its site.
static PyObject* call_traced(PyObject* object, PyObject* const* args, size_t count,
                             PyObject* names) {
  struct traced* self = (struct traced*)object;
  levels_arrange();
  const struct fathom_region region = abi.span_begin();
  PyObject* result = PyObject_Vectorcall(self->wrapped, args, count, names);
  if (region.begin == 0) return result;
  if (__builtin_expect(result == NULL, 0)) tell_exception(region);
  abi.span_end(&self->site->site, region, region.depth);
  return result;
}

// The same of one that tells its arguments inside its own event first, or is switched off.
static PyObject* call_telling(PyObject* object, PyObject* const* args, size_t count,
                              PyObject* names) {
  struct traced* self = (struct traced*)object;
  if (!told_is_on(self->told)) return PyObject_Vectorcall(self->wrapped, args, count, names);
  levels_arrange();
  const struct fathom_region region = abi.span_begin();
  if (region.begin != 0) told_send(self->told, args, PyVectorcall_NARGS(count), names);
  PyObject* result = PyObject_Vectorcall(self->wrapped, args, count, names);
  if (region.begin == 0) return result;
  if (__builtin_expect(result == NULL, 0)) tell_exception(region);
  abi.span_end(&self->site->site, region, region.depth);
  return result;
}

// The call itself only makes the coroutine or generator: what is recorded is made of that.
static PyObject* call_stepped(PyObject* object, PyObject* const* args, size_t count,
                              PyObject* names) {
  struct traced* self = (struct traced*)object;
  PyObject* inner = PyObject_Vectorcall(self->wrapped, args, count, names);
  return inner != NULL ? make_stepped(inner, self->site, self->made) : NULL;
}

// As a function does: found on a class it is bound to the instance.
static PyObject* traced_get(PyObject* object, PyObject* instance, PyObject* owner) {
  (void)owner;
  if (instance != NULL && instance != Py_None) return PyMethod_New(object, instance);
  Py_INCREF(object);
  return object;
}

static int traced_traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(((struct traced*)object)->wrapped);
  return told_traverse(((struct traced*)object)->told, visit, arg);
}

static int traced_clear(PyObject* object) {
  struct traced* self = (struct traced*)object;
  PyObject* wrapped = self->wrapped;
  Py_INCREF(Py_None);
  self->wrapped = Py_None;
  Py_XDECREF(wrapped);
  return 0;
}

static void traced_dealloc(PyObject* object) {
  struct traced* self = (struct traced*)object;
  PyObject_GC_UnTrack(object);
  if (self->weak_references != NULL) PyObject_ClearWeakRefs(object);
  Py_XDECREF(self->wrapped);
  Py_XDECREF(self->site);
  told_free(self->told);
  PyObject_GC_Del(object);
}

// By its name, as functions are pickled: the other side finds the decorated one of its own.
static PyObject* traced_reduce(PyObject* object, PyObject* unused) {
  (void)unused;
  return PyObject_GetAttrString(object, "__qualname__");
}

static PyObject* traced_copy(PyObject* object, PyObject* unused) {
  (void)unused;
  Py_INCREF(object);
  return object;
}

static PyMethodDef traced_methods[] = {
    {"__reduce__", traced_reduce, METH_NOARGS, NULL},
    {"__copy__", traced_copy, METH_NOARGS, NULL},
    {"__deepcopy__", traced_copy, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyObject* get_wrapped(PyObject* object, void* unused) {
  (void)unused;
  return traced_copy(((struct traced*)object)->wrapped, NULL);
}

static PyGetSetDef traced_attributes[] = {
    {"__wrapped__", get_wrapped, NULL, NULL, NULL},
    FATHOM_PROXY_ATTRIBUTES,
    {NULL, NULL, NULL, NULL, NULL},
};

#define TRACED_SLOTS(name, bind, flag)                                                         \
  {                                                                                            \
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = (name), .tp_basicsize = sizeof(struct traced),    \
                                .tp_dealloc = traced_dealloc,                                  \
                                .tp_vectorcall_offset = offsetof(struct traced, call),         \
                                .tp_repr = proxy_repr, .tp_call = PyVectorcall_Call,           \
                                .tp_getattro = proxy_get, .tp_setattro = proxy_set,            \
                                .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |          \
                                            Py_TPFLAGS_HAVE_VECTORCALL | (flag),               \
                                .tp_traverse = traced_traverse, .tp_clear = traced_clear,      \
                                .tp_weaklistoffset = offsetof(struct traced, weak_references), \
                                .tp_methods = traced_methods, .tp_getset = traced_attributes,  \
                                .tp_descr_get = (bind),                                        \
  }

PyTypeObject traced_type =
    TRACED_SLOTS("fathom._record.Traced", traced_get, Py_TPFLAGS_METHOD_DESCRIPTOR);
PyTypeObject traced_callable_type = TRACED_SLOTS("fathom._record.TracedCallable", NULL, 0);

// By the flags of its code, as inspect does: calling it to find out would run it.
static enum made made_by(PyObject* callable) {
  if (!PyFunction_Check(callable)) return kResult;
  const int flags = ((PyCodeObject*)PyFunction_GET_CODE(callable))->co_flags;
  if (flags & CO_COROUTINE) return kCoroutine;
  if (flags & CO_ASYNC_GENERATOR) return kAsyncGenerator;
  if (flags & CO_ITERABLE_COROUTINE) return kIterableCoroutine;
  return flags & CO_GENERATOR ? kGenerator : kResult;
}

PyObject* make_traced(PyObject* module, PyObject* args) {
  PyObject *wrapped, *name, *category, *file;
  unsigned line;
  (void)module;
  if (!PyArg_ParseTuple(args, "OOOOI:wrap", &wrapped, &name, &category, &file, &line)) return NULL;
  struct site* site = site_new(name, category, file, line);
  if (site == NULL) return NULL;
  const bool binds = Py_TYPE(wrapped)->tp_flags & Py_TPFLAGS_METHOD_DESCRIPTOR;
  struct traced* self =
      PyObject_GC_New(struct traced, binds ? &traced_type : &traced_callable_type);
  if (self == NULL) {
    Py_DECREF(site);
    return NULL;
  }
  Py_INCREF(wrapped);
  self->wrapped = wrapped;
  self->site = site;
  self->weak_references = NULL;
  self->told = NULL;
  self->made = made_by(wrapped);
  // Decided once: no call asks again.
  self->call = self->made == kResult ? call_traced : call_stepped;
  PyObject_GC_Track(self);
  return (PyObject*)self;
}

bool traced_tell(PyObject* object, struct told* told) {
  struct traced* self = (struct traced*)object;
  const bool ours = Py_TYPE(object) == &traced_type || Py_TYPE(object) == &traced_callable_type;
  if (!ours || self->call != call_traced) {
    PyErr_SetString(PyExc_TypeError, "tell() takes a traced function that returns its result");
    return false;
  }
  self->told = told;
  self->call = call_telling;
  return true;
}
