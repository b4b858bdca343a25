// SPDX-License-Identifier: MIT
// Finds the types of nodes of syntax trees, and reads and makes nodes. Python's own module `ast`
// would do all of it, but importing it would show in the program (sys.modules, time, files that are
// opened): the types are reached from the tree that the compiler has made.
#include "sources/python/nodes.h"

#if PY_VERSION_HEX < 0x030c0000

#include <string.h>

static const char* const kNames[kNodes] = {
    "For",          "AsyncFor", "While",    "FunctionDef", "AsyncFunctionDef",
    "ClassDef",     "Lambda",   "ListComp", "SetComp",     "DictComp",
    "GeneratorExp", "Break",    "With",     "AsyncWith",   "Try",
    "TryStar",      "Global",   "Call",     "Constant",    "Expr",
    "List",         "Tuple",    "Starred",  "Attribute",   "Name",
};

// The types are reached by their bases: nothing is imported. A program may have derived others of
// the same name, which come later.
static bool find_types(struct nodes* nodes, PyTypeObject* base) {
  PyObject* derived = PyObject_CallMethod((PyObject*)base, "__subclasses__", NULL);
  if (derived == NULL) return false;
  bool found = PyList_Check(derived);
  for (Py_ssize_t i = 0; found && i < PyList_GET_SIZE(derived); i++) {
    PyTypeObject* type = (PyTypeObject*)PyList_GET_ITEM(derived, i);
    const char* dot = strrchr(type->tp_name, '.');
    const char* name = dot != NULL ? dot + 1 : type->tp_name;
    for (int kind = 0; kind < kNodes; kind++) {
      if (nodes->types[kind] == NULL && strcmp(name, kNames[kind]) == 0) nodes->types[kind] = type;
    }
    if (base == nodes->root) found = find_types(nodes, type);
  }
  Py_DECREF(derived);
  return found;
}

enum node node_kind(const struct nodes* nodes, PyObject* node) {
  int kind = 0;
  while (kind < kNodes && Py_TYPE(node) != nodes->types[kind]) kind++;
  return (enum node)kind;
}

bool is_node(const struct nodes* nodes, PyObject* value) {
  return PyType_IsSubtype(Py_TYPE(value), nodes->root);
}

long number_at(PyObject* node, const char* field) {
  PyObject* value = PyObject_GetAttrString(node, field);
  const long number = value != NULL ? PyLong_AsLong(value) : -1;
  Py_XDECREF(value);
  return number;
}

bool is_text_at(PyObject* node, const char* field, const char* text) {
  PyObject* value = PyObject_GetAttrString(node, field);
  const bool same =
      value != NULL && PyUnicode_Check(value) && PyUnicode_CompareWithASCIIString(value, text) == 0;
  Py_XDECREF(value);
  PyErr_Clear();
  return same;
}

Py_ssize_t length_at(PyObject* node, const char* field) {
  PyObject* value = PyObject_GetAttrString(node, field);
  const Py_ssize_t length = value != NULL && PyList_Check(value) ? PyList_GET_SIZE(value) : 0;
  Py_XDECREF(value);
  PyErr_Clear();
  return length;
}

PyObject* make_node(const struct nodes* nodes, enum node kind, PyObject* fields, PyObject* at) {
  static const char* const kPlaces[][2] = {{"lineno", "lineno"},
                                           {"col_offset", "col_offset"},
                                           {"end_lineno", "lineno"},
                                           {"end_col_offset", "col_offset"}};
  PyObject* node =
      fields != NULL ? PyObject_CallObject((PyObject*)nodes->types[kind], fields) : NULL;
  Py_XDECREF(fields);
  for (size_t i = 0; node != NULL && i < sizeof kPlaces / sizeof *kPlaces; i++) {
    PyObject* value = PyObject_GetAttrString(at, kPlaces[i][1]);
    if (value == NULL || PyObject_SetAttrString(node, kPlaces[i][0], value) != 0) Py_CLEAR(node);
    Py_XDECREF(value);
  }
  return node;
}

bool nodes_find(struct nodes* nodes, PyObject* tree) {
  nodes->root = Py_TYPE(tree);
  while (nodes->root->tp_base != NULL && nodes->root->tp_base != &PyBaseObject_Type)
    nodes->root = nodes->root->tp_base;
  return find_types(nodes, nodes->root);
}

#endif
