// SPDX-License-Identifier: MIT
// Before 3.12: nodes of Python's syntax trees, by their types. Nothing is imported for it.
#pragma once

#include <stdbool.h>

#include "sources/python/compat.h"

enum node {
  kFor,
  kAsyncFor,
  kWhile,
  kFunctionDef,
  kAsyncFunctionDef,
  kClassDef,
  kLambda,
  kListComp,
  kSetComp,
  kDictComp,
  kGeneratorExp,
  kBreak,
  kWith,
  kAsyncWith,
  kTry,
  kTryStar,
  kGlobal,
  kCall,
  kConstant,
  kExpr,
  kList,
  kTuple,
  kStarred,
  kAttribute,
  kName,
  kNodes,
  kOther = kNodes
};

struct nodes {
  PyTypeObject* types[kNodes];
  PyTypeObject* root;  // of all nodes
};

// False with an exception set.
bool nodes_find(struct nodes* nodes, PyObject* tree);
enum node node_kind(const struct nodes* nodes, PyObject* node);
bool is_node(const struct nodes* nodes, PyObject* value);

// What a field is. -1 with an exception set; the others leave none.
long number_at(PyObject* node, const char* field);
bool is_text_at(PyObject* node, const char* field, const char* text);
Py_ssize_t length_at(PyObject* node, const char* field);

// A node, whose fields are given as the arguments of its type, at the place where another one
// begins. A reference of `fields` is taken; NULL is passed on.
PyObject* make_node(const struct nodes* nodes, enum node kind, PyObject* fields, PyObject* at);
