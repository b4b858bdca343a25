// SPDX-License-Identifier: MIT
// What is known about a code object is one word in the slot that Python reserves for tools, so that
// a frame costs no look-up in a table.
#include "sources/python/code.h"

#include <stdio.h>
#include <string.h>

#include "sources/python/loops.h"
#include "sources/python/rewrite.h"
#include "sources/python/text.h"

const struct fathom_frames* frames;
Py_ssize_t code_index = -1;

bool code_prepare(const struct fathom_frames* given) {
  frames = given;
  code_index = PyUnstable_Eval_RequestCodeExtraIndex(NULL);
  return code_index >= 0;
}

// A dict subclass as globals is not asked: its methods are the program's.
static PyObject* module_of(PyObject* globals) {
  if (globals == NULL || !PyDict_CheckExact(globals)) return NULL;
  PyObject* name = PyDict_GetItemString(globals, "__name__");
  return name != NULL && PyUnicode_CheckExact(name) ? text_of(name) : NULL;
}

static PyObject* name_of(PyCodeObject* code) {
#if PY_VERSION_HEX >= 0x030b0000
  return text_of(code->co_qualname);
#else
  return text_of(code->co_name);
#endif
}

#if PY_VERSION_HEX < 0x030c0000
static Py_ssize_t rewritten_index = -1;

// Python calls it for each code object that has room for tools at all.
static void drop_code(void* code) { Py_XDECREF((PyObject*)code); }

PyObject* code_rewritten(PyObject* code) {
  void* other = NULL;
  PyUnstable_Code_GetExtra(code, rewritten_index, &other);
  return other;
}

// A module is rewritten with all that is defined in it. Whether it was.
static bool rewrite(PyCodeObject* code, const struct fathom_frame_place* place) {
  if (strcmp(place->name, "<module>") != 0 || !frames->wants_loops(place->module)) return false;
  if (rewritten_index < 0) rewritten_index = PyUnstable_Eval_RequestCodeExtraIndex(drop_code);
  if (rewritten_index < 0 || code_rewritten((PyObject*)code) != NULL) return false;
  PyObject* other = rewrite_module(code, place);
  if (other == NULL) return false;
  Py_INCREF(Py_None);  // what is rewritten stays as it is
  if (PyUnstable_Code_SetExtra(other, rewritten_index, Py_None) == 0 &&
      PyUnstable_Code_SetExtra((PyObject*)code, rewritten_index, other) == 0)
    return true;
  Py_DECREF(other);
  return false;
}

void code_forget(void) { rewritten_index = -1; }
#else
static bool rewrite(PyCodeObject* code, const struct fathom_frame_place* place) {
  (void)code, (void)place;
  return false;
}
#endif

static const char* bytes_of(PyObject* text) { return text != NULL ? PyUnicode_AsUTF8(text) : NULL; }

static code_word word_of(PyCodeObject* code, PyObject* globals) {
  PyObject *name = name_of(code), *module = module_of(globals), *file = text_of(code->co_filename);
  const struct fathom_frame_place place = {
      .name = bytes_of(name),
      .module = bytes_of(module),
      .file = bytes_of(file),
      .line = code->co_firstlineno > 0 ? (uint32_t)code->co_firstlineno : 0,
  };
  const uint32_t site = place.name != NULL ? frames->filtered_site(&place) : 0;
  code_word word = 0;
  if (site == FATHOM_FRAME_LEFT_OUT) {
    word = kMet | kLeftOut;
  } else if (site != 0 && rewrite(code, &place)) {
    word = kMet | kRewritten;
  } else if (site != 0) {
    word = kMet | ((code_word)site << kSiteShift);
    if (frames->wants_loops(place.module) && loops_find(code, &place, site)) word |= kHasLoops;
  }
  Py_XDECREF(name);
  Py_XDECREF(module);
  Py_XDECREF(file);
  return word;
}

code_word code_meet(PyCodeObject* code, PyObject* globals) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  code_word word = word_of(code, globals);
  if (word != 0 && PyUnstable_Code_SetExtra((PyObject*)code, code_index, (void*)word) != 0)
    word = 0;
  PyErr_Restore(type, value, trace);
  return word;
}

// Tables of methods are static in nearly all extensions, and outlive what they describe: an address
// is known by its site. Where two share a place the later one is asked for again.
enum { kKnownMethods = 1024 };
static struct {
  const PyMethodDef* method;
  uint32_t site;
} known_methods[kKnownMethods];

static uint32_t plain_site(const char* name, const char* module) {
  const struct fathom_frame_place place = {.name = name, .module = module};
  return frames->site(&place);
}

// "builtins" where a type has no module in its name.
static uint32_t type_site(const char* type, const char* method) {
  char name[256], module[256] = "builtins";
  const char* dot = strrchr(type, '.');
  if (dot != NULL) snprintf(module, sizeof module, "%.*s", (int)(dot - type), type);
  snprintf(name, sizeof name, "%s%s%s", dot != NULL ? dot + 1 : type, method != NULL ? "." : "",
           method != NULL ? method : "");
  return plain_site(name, module);
}

static uint32_t function_site(PyCFunctionObject* function) {
  const char* name = function->m_ml->ml_name;
  if (function->m_self != NULL && !PyModule_Check(function->m_self)) {
    const bool of_class = PyType_Check(function->m_self);
    return type_site(
        (of_class ? (PyTypeObject*)function->m_self : Py_TYPE(function->m_self))->tp_name, name);
  }
  const char* module = function->m_module != NULL && PyUnicode_CheckExact(function->m_module)
                           ? PyUnicode_AsUTF8(function->m_module)
                           : NULL;
  PyErr_Clear();
  return plain_site(name, module);
}

static uint32_t known_site(const PyMethodDef* method, PyObject* callable) {
  const size_t at = ((uintptr_t)method / sizeof(PyMethodDef)) % kKnownMethods;
  if (known_methods[at].method == method && known_methods[at].site != 0)
    return known_methods[at].site;
  const uint32_t site =
      Py_TYPE(callable) == &PyMethodDescr_Type
          ? type_site(((PyDescrObject*)callable)->d_type->tp_name, method->ml_name)
          : function_site((PyCFunctionObject*)callable);
  known_methods[at].method = method;
  known_methods[at].site = site;
  return site;
}

uint32_t site_of_callable(PyObject* callable) {
  if (PyMethod_Check(callable)) callable = PyMethod_GET_FUNCTION(callable);
  if (PyCFunction_Check(callable))
    return known_site(((PyCFunctionObject*)callable)->m_ml, callable);
  if (Py_TYPE(callable) == &PyMethodDescr_Type)
    return known_site(((PyMethodDescrObject*)callable)->d_method, callable);
  if (PyType_Check(callable)) return type_site(((PyTypeObject*)callable)->tp_name, NULL);
  return type_site(Py_TYPE(callable)->tp_name, "__call__");
}
