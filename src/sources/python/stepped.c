// SPDX-License-Identifier: MIT
// Generators, coroutines and asynchronous generators as one event each. Between their steps other
// code runs in the same thread: an event that stayed open would hold all of it. So every step opens
// the level anew and closes it, and the event is written once, when the body is left. To the
// program the object is what it wraps: whatever it is asked goes to that.
#include "sources/python/stepped.h"

#include <string.h>

#include "sources/python/level.h"
#include "sources/python/proxy.h"

enum state { kNew, kSuspended, kRunning, kOver };

struct stepped {
  PyObject_HEAD PyObject* inner;  // first: see proxy.h
  struct site* site;
  PyObject* weak_references;
  struct steps steps;
  enum state state;
  enum made made;
};

// --- a step

// False where it is none of ours: nothing records, it is over, or it runs already and will say so.
static bool begin_step(struct stepped* self) {
  if (self->state == kNew) {
    self->state = steps_first(&self->steps) ? kRunning : kOver;
    return self->state == kRunning;
  }
  if (self->state != kSuspended) return false;
  steps_resume(&self->steps);
  self->state = kRunning;
  return true;
}

static void end_last_step(struct stepped* self, PyObject* exception) {
  self->state = kOver;
  steps_end(&self->steps, &self->site->site, exception);
}

// Whether the body has been left: then it has no frame any more.
static bool is_over(struct stepped* self) {
  static const char* const kFrames[] = {
      [kGenerator] = "gi_frame",
      [kCoroutine] = "cr_frame",
      [kIterableCoroutine] = "gi_frame",
      [kAsyncGenerator] = "ag_frame",
  };
  PyObject* frame = PyObject_GetAttrString(self->inner, kFrames[self->made]);
  const bool over = frame == Py_None;
  if (frame == NULL) PyErr_Clear();
  Py_XDECREF(frame);
  return over;
}

// How generators say that they are done.
static bool is_ordinary_end(PyObject* exception) {
  return exception == NULL || PyErr_GivenExceptionMatches(exception, PyExc_StopIteration) ||
         PyErr_GivenExceptionMatches(exception, PyExc_StopAsyncIteration);
}

// After a step that gave something, or (`left`) may have been the last.
static void end_step(struct stepped* self, bool left) {
  if (!left) {
    self->state = kSuspended;
    return steps_suspend(&self->steps);
  }
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  if (is_over(self)) {
    end_last_step(self, is_ordinary_end(type) ? NULL : type);
  } else {
    self->state = kSuspended;
    steps_suspend(&self->steps);
  }
  PyErr_Restore(type, value, trace);
}

// One step by a method of `target`, which is the inner object or an awaitable that advances it.
static PyObject* step_by_method(struct stepped* self, PyObject* target, const char* method,
                                PyObject* args) {
  PyObject* function = PyObject_GetAttrString(target, method);
  if (function == NULL) return NULL;
  const bool ours = begin_step(self);
  PyObject* result = PyObject_Call(function, args, NULL);
  if (ours) end_step(self, result == NULL || self->made == kAsyncGenerator);
  Py_DECREF(function);
  return result;
}

static PyObject* step_by_next(struct stepped* self, PyObject* target) {
  const bool ours = begin_step(self);
  PyObject* result = Py_TYPE(target)->tp_iternext(target);
  if (ours) end_step(self, result == NULL);
  return result;
}

#if PY_VERSION_HEX >= 0x030A0000
static PySendResult step_by_send(struct stepped* self, PyObject* target, PyObject* value,
                                 PyObject** result) {
  const bool ours = begin_step(self);
  const PySendResult how = PyIter_Send(target, value, result);
  if (ours) end_step(self, how != PYGEN_NEXT);
  return how;
}
#endif

// --- generators and coroutines

static struct stepped* stepped_of(PyObject* object) { return (struct stepped*)object; }

#if PY_VERSION_HEX >= 0x030A0000
// As an instance: of a tuple, PyErr_SetObject would make several arguments.
static void tell_stop(PyObject* value) {
  if (value == Py_None) return;
  PyObject* stop = PyObject_CallFunctionObjArgs(PyExc_StopIteration, value, NULL);
  if (stop != NULL) PyErr_SetObject(PyExc_StopIteration, stop);
  Py_XDECREF(stop);
}
#endif

static PyObject* stepped_next(PyObject* object) {
  PyObject* inner = stepped_of(object)->inner;
#if PY_VERSION_HEX >= 0x030A0000
  // A coroutine has no tp_iternext to call, but everything that can be sent to has this.
  PyObject* result = NULL;
  if (Py_TYPE(inner)->tp_iternext == NULL) {
    if (step_by_send(stepped_of(object), inner, Py_None, &result) == PYGEN_RETURN) {
      tell_stop(result);
      Py_CLEAR(result);
    }
    return result;
  }
#else
  if (Py_TYPE(inner)->tp_iternext == NULL) {
    PyObject* none = PyTuple_Pack(1, Py_None);
    if (none == NULL) return NULL;
    PyObject* result = step_by_method(stepped_of(object), inner, "send", none);
    Py_DECREF(none);
    return result;
  }
#endif
  return step_by_next(stepped_of(object), inner);
}

static PyObject* stepped_send(PyObject* object, PyObject* args) {
  return step_by_method(stepped_of(object), stepped_of(object)->inner, "send", args);
}

// What never began ends by this without a step.
static void never_begins(PyObject* object) {
  if (stepped_of(object)->state == kNew) stepped_of(object)->state = kOver;
}

static PyObject* stepped_throw(PyObject* object, PyObject* args) {
  never_begins(object);
  return step_by_method(stepped_of(object), stepped_of(object)->inner, "throw", args);
}

static PyObject* stepped_close(PyObject* object, PyObject* unused) {
  struct stepped* self = stepped_of(object);
  (void)unused;
  never_begins(object);
  const bool ours = begin_step(self);
  PyObject* result = PyObject_CallMethod(self->inner, "close", NULL);
  if (ours) end_step(self, true);
  return result;
}

static PyObject* itself(PyObject* object) {
  Py_INCREF(object);
  return object;
}

static PyMethodDef generator_methods[] = {
    {"send", stepped_send, METH_VARARGS, NULL},
    {"throw", stepped_throw, METH_VARARGS, NULL},
    {"close", stepped_close, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

#if PY_VERSION_HEX >= 0x030A0000
static PySendResult stepped_am_send(PyObject* object, PyObject* value, PyObject** result) {
  return step_by_send(stepped_of(object), stepped_of(object)->inner, value, result);
}
#define FATHOM_AM_SEND(function) .am_send = (function),
#else
#define FATHOM_AM_SEND(function)
#endif

static PyAsyncMethods generator_async = {FATHOM_AM_SEND(stepped_am_send).am_await = NULL};
static PyAsyncMethods coroutine_async = {FATHOM_AM_SEND(stepped_am_send).am_await = itself};

// --- asynchronous generators: what their methods give is an awaitable, whose steps are theirs

struct async_step {
  PyObject_HEAD PyObject* awaitable;
  struct stepped* generator;
};

static PyObject* make_async_step(struct stepped* generator, PyObject* awaitable) {
  if (awaitable == NULL) return NULL;
  struct async_step* self = PyObject_GC_New(struct async_step, &async_step_type);
  if (self == NULL) {
    Py_DECREF(awaitable);
    return NULL;
  }
  self->awaitable = awaitable;
  Py_INCREF(generator);
  self->generator = generator;
  PyObject_GC_Track(self);
  return (PyObject*)self;
}

static PyObject* async_next(PyObject* object) {
  struct stepped* self = stepped_of(object);
  return make_async_step(self, Py_TYPE(self->inner)->tp_as_async->am_anext(self->inner));
}

static PyObject* async_by_method(PyObject* object, const char* method, PyObject* args) {
  struct stepped* self = stepped_of(object);
  PyObject* function = PyObject_GetAttrString(self->inner, method);
  if (function == NULL) return NULL;
  PyObject* awaitable = PyObject_Call(function, args, NULL);
  Py_DECREF(function);
  return make_async_step(self, awaitable);
}

static PyObject* async_send(PyObject* object, PyObject* args) {
  return async_by_method(object, "asend", args);
}
static PyObject* async_throw(PyObject* object, PyObject* args) {
  never_begins(object);
  return async_by_method(object, "athrow", args);
}
static PyObject* async_close(PyObject* object, PyObject* args) {
  never_begins(object);
  return async_by_method(object, "aclose", args);
}

static PyMethodDef async_generator_methods[] = {
    {"asend", async_send, METH_VARARGS, NULL},
    {"athrow", async_throw, METH_VARARGS, NULL},
    {"aclose", async_close, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyAsyncMethods async_generator_async = {.am_aiter = itself, .am_anext = async_next};

static PyObject* async_step_next(PyObject* object) {
  struct async_step* self = (struct async_step*)object;
  return step_by_next(self->generator, self->awaitable);
}
static PyObject* async_step_send(PyObject* object, PyObject* args) {
  struct async_step* self = (struct async_step*)object;
  return step_by_method(self->generator, self->awaitable, "send", args);
}
static PyObject* async_step_throw(PyObject* object, PyObject* args) {
  struct async_step* self = (struct async_step*)object;
  return step_by_method(self->generator, self->awaitable, "throw", args);
}
static PyObject* async_step_close(PyObject* object, PyObject* unused) {
  (void)unused;
  return PyObject_CallMethod(((struct async_step*)object)->awaitable, "close", NULL);
}

#if PY_VERSION_HEX >= 0x030A0000
static PySendResult async_step_am_send(PyObject* object, PyObject* value, PyObject** result) {
  struct async_step* self = (struct async_step*)object;
  return step_by_send(self->generator, self->awaitable, value, result);
}
#endif

static int async_step_traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(((struct async_step*)object)->awaitable);
  Py_VISIT(((struct async_step*)object)->generator);
  return 0;
}

static void async_step_dealloc(PyObject* object) {
  struct async_step* self = (struct async_step*)object;
  PyObject_GC_UnTrack(object);
  Py_DECREF(self->awaitable);
  Py_DECREF(self->generator);
  PyObject_GC_Del(object);
}

static PyMethodDef async_step_methods[] = {
    {"send", async_step_send, METH_VARARGS, NULL},
    {"throw", async_step_throw, METH_VARARGS, NULL},
    {"close", async_step_close, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyAsyncMethods async_step_async = {FATHOM_AM_SEND(async_step_am_send).am_await = itself};

PyTypeObject async_step_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fathom._record.AsyncStep",
    .tp_basicsize = sizeof(struct async_step),
    .tp_dealloc = async_step_dealloc,
    .tp_as_async = &async_step_async,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_traverse = async_step_traverse,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = async_step_next,
    .tp_methods = async_step_methods,
};

// --- life

static int stepped_traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(stepped_of(object)->inner);
  return 0;
}

// Left in the midst of it: what the inner one does at its end belongs to its last step.
static void end_with_object(struct stepped* self) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  const bool ours = self->state == kSuspended && begin_step(self);
  Py_CLEAR(self->inner);
  if (ours) end_last_step(self, NULL);
  PyErr_Restore(type, value, trace);
}

static void stepped_dealloc(PyObject* object) {
  struct stepped* self = stepped_of(object);
  PyObject_GC_UnTrack(object);
  if (self->weak_references != NULL) PyObject_ClearWeakRefs(object);
  end_with_object(self);
  Py_XDECREF(self->steps.level.arguments);
  Py_DECREF(self->site);
  PyObject_GC_Del(object);
}

static PyGetSetDef stepped_attributes[] = {
    FATHOM_PROXY_ATTRIBUTES,
    {NULL, NULL, NULL, NULL, NULL},
};

#define STEPPED_SLOTS                                                                           \
  .tp_basicsize = sizeof(struct stepped), .tp_dealloc = stepped_dealloc, .tp_repr = proxy_repr, \
  .tp_getattro = proxy_get, .tp_setattro = proxy_set,                                           \
  .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_traverse = stepped_traverse,         \
  .tp_weaklistoffset = offsetof(struct stepped, weak_references), .tp_getset = stepped_attributes

PyTypeObject generator_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fathom._record.Generator",
    STEPPED_SLOTS,
    .tp_as_async = &generator_async,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = stepped_next,
    .tp_methods = generator_methods,
};

PyTypeObject coroutine_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fathom._record.Coroutine",
    STEPPED_SLOTS,
    .tp_as_async = &coroutine_async,
    .tp_iternext = stepped_next,
    .tp_methods = generator_methods,
};

PyTypeObject iterable_coroutine_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fathom._record.IterableCoroutine",
    STEPPED_SLOTS,
    .tp_as_async = &coroutine_async,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = stepped_next,
    .tp_methods = generator_methods,
};

PyTypeObject async_generator_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fathom._record.AsyncGenerator",
    STEPPED_SLOTS,
    .tp_as_async = &async_generator_async,
    .tp_methods = async_generator_methods,
};

static PyTypeObject* type_for(enum made made) {
  switch (made) {
    case kGenerator:
      return &generator_type;
    case kCoroutine:
      return &coroutine_type;
    case kIterableCoroutine:
      return &iterable_coroutine_type;
    default:
      return &async_generator_type;
  }
}

PyObject* make_stepped(PyObject* inner, struct site* site, enum made made) {
  struct stepped* self = PyObject_GC_New(struct stepped, type_for(made));
  if (self == NULL) {
    Py_DECREF(inner);
    return NULL;
  }
  self->inner = inner;
  Py_INCREF(site);
  self->site = site;
  self->weak_references = NULL;
  memset(&self->steps, 0, sizeof self->steps);
  self->state = kNew;
  self->made = made;
  PyObject_GC_Track(self);
  return (PyObject*)self;
}
