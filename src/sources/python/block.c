// SPDX-License-Identifier: MIT
// `with` blocks and annotated loops as C objects. Arguments are made texts when they are given,
// since objects may change before the block ends.
#include "sources/python/block.h"

#include "sources/python/level.h"
#include "sources/python/site.h"
#include "sources/python/text.h"

// A block can be entered again after its end. Entered while it is open it is still one region.
struct block {
  PyObject_HEAD struct site* site;  // NULL: nothing records, and this is the one block there is
  PyObject* given;                  // its arguments, or NULL
  struct level level;
  unsigned entered;
};

static PyObject* block_enter(PyObject* object, PyObject* unused) {
  struct block* self = (struct block*)object;
  (void)unused;
  if (self->site != NULL && self->entered++ == 0 && level_begin(&self->level)) {
    Py_XINCREF(self->given);
    self->level.arguments = self->given;
  }
  Py_INCREF(object);
  return object;
}

static void end_block(struct block* self, PyObject* exception) {
  if (self->level.region.begin != 0) level_end(&self->level, &self->site->site, exception);
}

static PyObject* block_exit(PyObject* object, PyObject* const* args, Py_ssize_t count) {
  struct block* self = (struct block*)object;
  if (self->entered > 0 && --self->entered == 0)
    end_block(self, count > 0 && args[0] != Py_None ? args[0] : NULL);
  Py_RETURN_NONE;
}

static void block_dealloc(PyObject* object) {
  struct block* self = (struct block*)object;
  if (self->site != NULL) end_block(self, NULL);
  Py_XDECREF(self->site);
  Py_XDECREF(self->given);
  PyObject_Free(object);
}

static PyMethodDef block_methods[] = {
    {"__enter__", block_enter, METH_NOARGS, NULL},
    {"__exit__", FATHOM_METHOD(block_exit), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

PyTypeObject block_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fathom._record.Region",
    .tp_basicsize = sizeof(struct block),
    .tp_dealloc = block_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_methods = block_methods,
};

static struct block* new_block(struct site* site, PyObject* given) {
  struct block* self = PyObject_New(struct block, &block_type);
  if (self == NULL) {
    Py_XDECREF(site);
    Py_XDECREF(given);
    return NULL;
  }
  self->site = site;
  self->given = given;
  self->level.region.begin = 0;
  self->entered = 0;
  return self;
}

static struct block* idle;

// When the module is made: an interpreter before this one may have been finalised, and its objects
// with it.
void block_forget(void) { idle = NULL; }

// Where nothing records, every `with` gets the same object, and costs no memory.
static PyObject* idle_block(void) {
  if (idle == NULL) idle = new_block(NULL, NULL);
  Py_XINCREF(idle);
  return (PyObject*)idle;
}

// Values are made texts now: they may change before the block ends.
static int give(PyObject** given, PyObject* key, PyObject* value) {
  if (*given == NULL && (*given = PyDict_New()) == NULL) return -1;
  PyObject *name = text_of(key), *clean = value_of(value);
  const int result = name != NULL && clean != NULL ? PyDict_SetItem(*given, name, clean) : -1;
  Py_XDECREF(name);
  Py_XDECREF(clean);
  return result;
}

PyObject* make_block(PyObject* module, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  (void)module;
  if (count != 1) {
    PyErr_SetString(PyExc_TypeError, "region() takes a name, and arguments by keyword");
    return NULL;
  }
  if (!abi_is_bound()) return idle_block();
  PyObject *category = NULL, *given = NULL;
  const Py_ssize_t keywords = names != NULL ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t i = 0; i < keywords; i++) {
    PyObject* key = PyTuple_GET_ITEM(names, i);
    if (PyUnicode_CompareWithASCIIString(key, "category") == 0) {
      category = args[1 + i];
    } else if (give(&given, key, args[1 + i]) != 0) {
      Py_XDECREF(given);
      return NULL;
    }
  }
  struct site* site = site_named(args[0], category);
  if (site != NULL) return (PyObject*)new_block(site, given);
  Py_XDECREF(given);
  return NULL;
}

// A turn of a loop lasts from asking for its item until the next one is asked for, or until the
// loop is left: then nobody holds the iterator any more.
struct loop {
  PyObject_HEAD PyObject* iterator;
  struct site* site;
  struct level level;
};

static void end_turn(struct loop* self, PyObject* exception) {
  if (self->level.region.begin != 0) level_end(&self->level, &self->site->site, exception);
}

static PyObject* loop_next(PyObject* object) {
  struct loop* self = (struct loop*)object;
  if (self->iterator == NULL) return NULL;  // cleared by the collector
  end_turn(self, NULL);
  const bool begun = level_begin(&self->level);
  PyObject* item = Py_TYPE(self->iterator)->tp_iternext(self->iterator);
  if (item != NULL || !begun || self->level.region.begin == 0) return item;
  PyObject* exception = PyErr_Occurred();
  if (exception == NULL || PyErr_GivenExceptionMatches(exception, PyExc_StopIteration)) {
    level_drop(&self->level);
  } else {
    end_turn(self, exception);
  }
  return NULL;
}

static int loop_traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(((struct loop*)object)->iterator);
  return 0;
}

static int loop_clear(PyObject* object) {
  Py_CLEAR(((struct loop*)object)->iterator);
  return 0;
}

static void loop_dealloc(PyObject* object) {
  struct loop* self = (struct loop*)object;
  PyObject_GC_UnTrack(object);
  end_turn(self, NULL);
  loop_clear(object);
  Py_DECREF(self->site);
  PyObject_GC_Del(object);
}

static PyObject* loop_length_hint(PyObject* object, PyObject* unused) {
  (void)unused;
  const Py_ssize_t length = PyObject_LengthHint(((struct loop*)object)->iterator, 0);
  return length >= 0 ? PyLong_FromSsize_t(length) : NULL;
}

static PyMethodDef loop_methods[] = {
    {"__length_hint__", loop_length_hint, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

PyTypeObject loop_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fathom._record.Loop",
    .tp_basicsize = sizeof(struct loop),
    .tp_dealloc = loop_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_traverse = loop_traverse,
    .tp_clear = loop_clear,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = loop_next,
    .tp_methods = loop_methods,
};

PyObject* make_loop(PyObject* module, PyObject* const* args, Py_ssize_t count) {
  (void)module;
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "iter() takes an iterable and a name");
    return NULL;
  }
  PyObject* iterator = PyObject_GetIter(args[0]);
  if (iterator == NULL || !abi_is_bound()) return iterator;
  struct site* site = site_named(args[1], NULL);
  struct loop* self = site != NULL ? PyObject_GC_New(struct loop, &loop_type) : NULL;
  if (self == NULL) {
    Py_XDECREF(site);
    Py_DECREF(iterator);
    return NULL;
  }
  self->iterator = iterator;
  self->site = site;
  self->level.region.begin = 0;
  PyObject_GC_Track(self);
  return (PyObject*)self;
}
