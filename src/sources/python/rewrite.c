// SPDX-License-Identifier: MIT
// From the source of a module to code that tells of its loops. Nothing of this can be seen from the
// program: its files of compiled code are neither read nor written by it, its modules and hooks of
// imports stay as they are, and the code that it gets to see of a module is its own. Only functions
// of the module have other code: with calls of constants (tree.h), on the same lines.
#define Py_BUILD_CORE_MODULE 1
#include "sources/python/rewrite.h"

#if PY_VERSION_HEX < 0x030c0000

#include <string.h>

#if PY_VERSION_HEX < 0x03090000
#include <internal/pycore_pystate.h>
#endif

#include "sources/python/code.h"
#include "sources/python/marks.h"
#include "sources/python/tree.h"

static PyObject* compiler;  // builtins.compile, as it was before the program
static bool tried_command;  // what stands behind -c

void rewrite_forget(void) {
  compiler = NULL;
  tried_command = false;
  PyObject* builtins = PyEval_GetBuiltins();
  if (builtins != NULL) compiler = PyDict_GetItemString(builtins, "compile");
  Py_XINCREF(compiler);
}

// Compiling may warn, as the program's own has done already or never would: for a while the first
// filter of warnings ignores all.
static PyObject* silence_warnings(PyObject* all) {
  PyObject* modules = PyImport_GetModuleDict();
  PyObject* warnings = PyDict_GetItemString(modules, "warnings");
  if (warnings == NULL) warnings = PyDict_GetItemString(modules, "_warnings");
  PyObject* filters = warnings != NULL ? PyObject_GetAttrString(warnings, "filters") : NULL;
  if (filters != NULL && PyList_Check(filters) && PyList_Insert(filters, 0, all) == 0)
    return filters;
  Py_XDECREF(filters);
  PyErr_Clear();
  return NULL;
}

static void restore_warnings(PyObject* filters, PyObject* all) {
  for (Py_ssize_t i = 0; filters != NULL && i < PyList_GET_SIZE(filters); i++) {
    if (PyList_GET_ITEM(filters, i) != all) continue;
    PySequence_DelItem(filters, i);
    break;
  }
  Py_XDECREF(filters);
}

static PyObject* lines_of(PyCodeObject* code) {
#if PY_VERSION_HEX >= 0x030a0000
  return code->co_linetable;
#else
  return code->co_lnotab;
#endif
}

// Python compares code but for its lines.
static bool is_same_code(PyObject* one, PyObject* other) {
  PyCodeObject *left = (PyCodeObject*)one, *right = (PyCodeObject*)other;
  if (PyObject_RichCompareBool(one, other, Py_EQ) != 1 ||
      PyObject_RichCompareBool(lines_of(left), lines_of(right), Py_EQ) != 1)
    return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(left->co_consts); i++) {
    PyObject* constant = PyTuple_GET_ITEM(left->co_consts, i);
    if (PyCode_Check(constant) && !is_same_code(constant, PyTuple_GET_ITEM(right->co_consts, i)))
      return false;
  }
  return true;
}

static PyObject* parse(const char* text, PyObject* file, int what) {
  PyCompilerFlags flags = {.cf_flags = what, .cf_feature_version = PY_MINOR_VERSION};
  return Py_CompileStringObject(text, file, Py_file_input, &flags, -1);
}

static PyObject* compile_marked(PyObject* tree, PyObject* file) {
  PyObject* marks = PyList_New(0);
  PyObject* code = NULL;
  if (marks != NULL && tree_mark(tree, marks) && PyList_GET_SIZE(marks) > 0)
    code = PyObject_CallFunction(compiler, "OOsiii", tree, file, "exec", 0, 1, -1);
  if (code != NULL && (!PyCode_Check(code) || !marks_settle((PyCodeObject*)code, marks)))
    Py_CLEAR(code);
  Py_XDECREF(marks);
  return code;
}

static PyObject* rewrite_text(PyCodeObject* code, const char* text) {
  PyObject *plain = parse(text, code->co_filename, 0), *tree = NULL, *marked = NULL;
  if (plain != NULL && PyCode_Check(plain) && is_same_code(plain, (PyObject*)code))
    tree = parse(text, code->co_filename, PyCF_ONLY_AST);
  if (tree != NULL) marked = compile_marked(tree, code->co_filename);
  Py_XDECREF(plain);
  Py_XDECREF(tree);
  return marked;
}

static PyObject* rewrite_quietly(PyCodeObject* code, const char* text, size_t size) {
  const bool may_loop = strstr(text, "for") != NULL || strstr(text, "while") != NULL;
  if (strlen(text) != size || !may_loop || compiler == NULL) return NULL;
  PyObject* all = Py_BuildValue("sOOOi", "ignore", Py_None, PyExc_Warning, Py_None, 0);
  PyObject* filters = all != NULL ? silence_warnings(all) : NULL;
  PyObject* marked = filters != NULL ? rewrite_text(code, text) : NULL;
  PyErr_Clear();
  restore_warnings(filters, all);
  Py_XDECREF(all);
  return marked;
}

static const wchar_t* command_text(void) {
  PyInterpreterState* interpreter = PyThreadState_Get()->interp;
#if PY_VERSION_HEX >= 0x03090000
  return _PyInterpreterState_GetConfig(interpreter)->run_command;
#else
  return interpreter->config.run_command;
#endif
}

// What stands behind -c runs once, and first of all that has no file.
static PyObject* rewrite_command(PyCodeObject* code, const char* module) {
  if (tried_command || module == NULL || strcmp(module, "__main__") != 0) return NULL;
  tried_command = true;
  const wchar_t* command = command_text();
  PyObject* words = command != NULL ? PyUnicode_FromWideChar(command, -1) : NULL;
  Py_ssize_t size = 0;
  const char* text = words != NULL ? PyUnicode_AsUTF8AndSize(words, &size) : NULL;
  PyObject* marked = text != NULL ? rewrite_quietly(code, text, (size_t)size) : NULL;
  Py_XDECREF(words);
  PyErr_Clear();
  return marked;
}

PyObject* rewrite_module(PyCodeObject* code, const struct fathom_frame_place* module) {
  const int steps = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR | CO_NEWLOCALS;
  if ((code->co_flags & steps) != 0 || module->file == NULL || *module->file == 0) return NULL;
  if (strcmp(module->file, "<string>") == 0) return rewrite_command(code, module->module);
  if (*module->file == '<') return NULL;
  size_t size = 0;
  char* text = frames->read_file(module->file, &size);
  PyObject* marked = text != NULL ? rewrite_quietly(code, text, size) : NULL;
  if (text != NULL) frames->free_file(text, size);
  return marked;
}

#endif
