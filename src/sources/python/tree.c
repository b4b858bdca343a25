// SPDX-License-Identifier: MIT
// Walks a syntax tree and marks its loops. Names of loops are those that they have from 3.12 on,
// where comprehensions are part of the function around them.
#include "sources/python/tree.h"

#if PY_VERSION_HEX < 0x030c0000

#include <string.h>

#include "sources/python/marks.h"
#include "sources/python/nodes.h"

// What loops are named after: a module, a class, a function.
struct scope {
  enum { kModule, kClass, kFunction } kind;
  PyObject* name;     // qualified
  PyObject* globals;  // names that it declares so, as a list; NULL: none
};

// The loop around a statement.
struct around {
  PyObject* end;     // its mark
  bool ends_behind;  // it is left through cleaning up, and its end is told behind it
};

struct where {
  struct scope* scope;
  struct around* loop;  // NULL: none
  bool cleans_up;       // between the loop and here there is a `with` or a `finally`
};

struct walk {
  struct nodes nodes;
  PyObject* marks;
};

static bool visit(struct walk* walk, PyObject* node, struct where where);
static bool visit_statements(struct walk* walk, PyObject* list, struct where where);

PyObject* tree_constant(Py_ssize_t number) {
  return PyBytes_FromFormat("\xff%s loop %zd\xff", "fathom", number);
}

// The call of a mark, at the place of another node.
static PyObject* make_call(const struct walk* walk, PyObject* mark, PyObject* at) {
  if (mark == NULL || PyList_Append(walk->marks, mark) != 0) return NULL;
  PyObject* number = tree_constant(PyList_GET_SIZE(walk->marks) - 1);
  PyObject* constant = number != NULL ? make_node(&walk->nodes, kConstant,
                                                  Py_BuildValue("(NO)", number, Py_None), at)
                                      : NULL;
  if (constant == NULL) return NULL;
  return make_node(&walk->nodes, kCall, Py_BuildValue("(N[][])", constant), at);
}

static bool insert_statement(const struct walk* walk, PyObject* list, Py_ssize_t place,
                             PyObject* mark, PyObject* at) {
  PyObject* call = make_call(walk, mark, at);
  PyObject* statement =
      call != NULL ? make_node(&walk->nodes, kExpr, Py_BuildValue("(N)", call), at) : NULL;
  const bool done = statement != NULL && PyList_Insert(list, place, statement) == 0;
  Py_XDECREF(statement);
  return done;
}

// A qualified name, as a new reference.
static PyObject* name_inside(const struct scope* scope, PyObject* name) {
  const bool is_global = scope->globals != NULL && PySequence_Contains(scope->globals, name) == 1;
  if (scope->kind == kModule || is_global) {
    Py_INCREF(name);
    return name;
  }
  return PyUnicode_FromFormat(scope->kind == kFunction ? "%U.<locals>.%U" : "%U.%U", scope->name,
                              name);
}

static PyObject* new_turn(const struct walk* walk, const struct scope* scope, const char* kind,
                          PyObject* at) {
  const long line = number_at(at, "lineno");
  if (line < 0) return NULL;
  PyObject* name = PyUnicode_FromFormat("%U.<%s %ld>", scope->name, kind, line);
  PyObject* turn = name != NULL ? marks_turn(name, line, PyList_GET_SIZE(walk->marks)) : NULL;
  Py_XDECREF(name);
  return turn;
}

static bool visit_value(struct walk* walk, PyObject* value, struct where where) {
  if (PyList_Check(value)) return visit_statements(walk, value, where);
  return !is_node(&walk->nodes, value) || visit(walk, value, where);
}

static bool visit_field(struct walk* walk, PyObject* node, const char* field, struct where where) {
  PyObject* value = PyObject_GetAttrString(node, field);
  const bool done = value != NULL && visit_value(walk, value, where);
  Py_XDECREF(value);
  return done;
}

// An annotation may be kept as its text, in which a mark would be seen.
static bool is_annotation(const char* field) {
  return strcmp(field, "annotation") == 0 || strcmp(field, "returns") == 0;
}

// All fields but the one that is named, which the caller visits by itself.
static bool visit_fields(struct walk* walk, PyObject* node, const char* but, struct where where) {
  PyObject* fields = PyObject_GetAttrString(node, "_fields");
  bool done = fields != NULL && PyTuple_Check(fields);
  for (Py_ssize_t i = 0; done && i < PyTuple_GET_SIZE(fields); i++) {
    const char* field = PyUnicode_AsUTF8(PyTuple_GET_ITEM(fields, i));
    if (field == NULL || is_annotation(field) || (but != NULL && strcmp(field, but) == 0)) continue;
    done = visit_field(walk, node, field, where);
  }
  Py_XDECREF(fields);
  return done;
}

// What is inside has a scope of its own; names outside of it, in decorators and defaults, have not.
static bool visit_inside(struct walk* walk, PyObject* node, PyObject* name, struct where where) {
  PyObject* whole = name != NULL ? name_inside(where.scope, name) : NULL;
  Py_XDECREF(name);
  if (whole == NULL || !visit_fields(walk, node, "body", where)) {
    Py_XDECREF(whole);
    return false;
  }
  struct scope inside = {.kind = node_kind(&walk->nodes, node) == kClassDef ? kClass : kFunction,
                         .name = whole};
  const bool done = visit_field(walk, node, "body", (struct where){.scope = &inside});
  Py_XDECREF(inside.globals);
  Py_DECREF(whole);
  return done;
}

// Whether a decorator, `jit`, `numba.njit(parallel=True)`, is one of those that read the code of a
// function: Numba's and torch.compile, which would meet our marks there. A reference of it is
// taken.
static bool is_compiler(const struct walk* walk, PyObject* decorator) {
  static const char* const kReaders[] = {"jit",     "njit",  "vectorize", "guvectorize",
                                         "stencil", "cfunc", "overload",  "generated_jit"};
  bool named = false, compiles = false, of_jax = false, of_torch = false;
  while (decorator != NULL) {
    const enum node kind = node_kind(&walk->nodes, decorator);
    const char* field = kind == kAttribute ? "attr" : "id";
    for (size_t i = 0; i < sizeof kReaders / sizeof *kReaders; i++)
      named |= is_text_at(decorator, field, kReaders[i]);
    compiles |= is_text_at(decorator, field, "compile");
    of_jax |= is_text_at(decorator, field, "jax");
    of_torch |= is_text_at(decorator, field, "torch");
    const char* next = kind == kCall ? "func" : kind == kAttribute ? "value" : NULL;
    PyObject* inside = next != NULL ? PyObject_GetAttrString(decorator, next) : NULL;
    Py_DECREF(decorator);
    decorator = inside;
  }
  PyErr_Clear();
  return (named && !of_jax) || (compiles && of_torch);
}

static bool is_read_by_compilers(const struct walk* walk, PyObject* node) {
  PyObject* list = PyObject_GetAttrString(node, "decorator_list");
  bool found = false;
  for (Py_ssize_t i = 0; list != NULL && PyList_Check(list) && i < PyList_GET_SIZE(list); i++) {
    PyObject* one = PyList_GET_ITEM(list, i);
    Py_INCREF(one);
    found |= is_compiler(walk, one);
  }
  Py_XDECREF(list);
  return found;
}

// A `for` over a list or tuple of one, in a comprehension, is no loop: it is an assignment, as
// Python sees it from 3.9 on.
static bool is_assignment(const struct walk* walk, PyObject* generator) {
  PyObject* iterated = PyObject_GetAttrString(generator, "iter");
  const enum node kind = iterated != NULL ? node_kind(&walk->nodes, iterated) : kOther;
  bool single = false;
  if ((kind == kList || kind == kTuple) && length_at(iterated, "elts") == 1) {
    PyObject* elements = PyObject_GetAttrString(iterated, "elts");
    single = elements != NULL && node_kind(&walk->nodes, PyList_GET_ITEM(elements, 0)) != kStarred;
    Py_XDECREF(elements);
  }
  Py_XDECREF(iterated);
  return single && number_at(generator, "is_async") == 0;
}

// A turn begins where its first condition is asked for: the mark is one that holds. It stands where
// its item was stored, so that no line is met twice.
static bool mark_generator(struct walk* walk, PyObject* generator, PyObject* around,
                           const struct scope* scope, bool is_first) {
  const bool assigns = is_assignment(walk, generator);
  if (assigns && PY_VERSION_HEX >= 0x03090000) return true;
  const long is_async = number_at(generator, "is_async");
  PyObject* conditions = PyObject_GetAttrString(generator, "ifs");
  PyObject* turn =
      assigns ? marks_turn(NULL, 0, 0) : new_turn(walk, scope, "comprehension", around);
  if (turn != NULL && is_async > 0 && is_first) marks_begin_at_start(turn);
  PyObject* target = PyObject_GetAttrString(generator, "target");
  PyObject* call = turn != NULL && target != NULL ? make_call(walk, turn, target) : NULL;
  const bool done = conditions != NULL && call != NULL && PyList_Insert(conditions, 0, call) == 0;
  Py_XDECREF(call);
  Py_XDECREF(target);
  Py_XDECREF(turn);
  Py_XDECREF(conditions);
  return done;
}

// The first `iter` belongs to the scope around it.
static bool visit_generators(struct walk* walk, PyObject* node, struct where outside,
                             struct where inside) {
  PyObject* list = PyObject_GetAttrString(node, "generators");
  bool done = list != NULL && PyList_Check(list);
  for (Py_ssize_t i = 0; done && i < PyList_GET_SIZE(list); i++) {
    PyObject* one = PyList_GET_ITEM(list, i);
    done = visit_field(walk, one, "iter", i == 0 ? outside : inside) &&
           visit_fields(walk, one, "iter", inside) &&
           mark_generator(walk, one, node, inside.scope, i == 0);
  }
  Py_XDECREF(list);
  return done;
}

// Only a generator is a function of its own, as from 3.12 on.
static bool visit_comprehension(struct walk* walk, PyObject* node, enum node kind,
                                struct where where) {
  struct scope own = {.kind = kFunction};
  struct where inside = where;
  if (kind == kGeneratorExp) {
    PyObject* name = PyUnicode_FromString("<genexpr>");
    own.name = name != NULL ? name_inside(where.scope, name) : NULL;
    Py_XDECREF(name);
    if (own.name == NULL) return false;
    inside = (struct where){.scope = &own};
  }
  const bool done =
      visit_generators(walk, node, where, inside) && visit_fields(walk, node, "generators", inside);
  Py_XDECREF(own.name);
  return done;
}

static bool declare_globals(PyObject* node, struct scope* scope) {
  if (scope->globals == NULL) scope->globals = PyList_New(0);
  PyObject* names = PyObject_GetAttrString(node, "names");
  const bool done =
      scope->globals != NULL && names != NULL && PyList_SetSlice(scope->globals, 0, 0, names) == 0;
  Py_XDECREF(names);
  return done;
}

// What is left by `break` from within runs its `__exit__` or `finally` first.
static bool visit_try(struct walk* walk, PyObject* node, struct where where) {
  struct where inside = where;
  inside.cleans_up |= length_at(node, "finalbody") > 0;
  return visit_fields(walk, node, "finalbody", inside) &&
         visit_field(walk, node, "finalbody", where);
}

static bool visit_with(struct walk* walk, PyObject* node, struct where where) {
  struct where inside = where;
  inside.cleans_up = true;
  return visit_fields(walk, node, "body", where) && visit_field(walk, node, "body", inside);
}

static bool visit_kind(struct walk* walk, PyObject* node, struct where where) {
  const enum node kind = node_kind(&walk->nodes, node);
  switch (kind) {
    case kFunctionDef:
    case kAsyncFunctionDef:
      if (is_read_by_compilers(walk, node)) return true;
      return visit_inside(walk, node, PyObject_GetAttrString(node, "name"), where);
    case kClassDef:
      return visit_inside(walk, node, PyObject_GetAttrString(node, "name"), where);
    case kLambda:
      return visit_inside(walk, node, PyUnicode_FromString("<lambda>"), where);
    case kListComp:
    case kSetComp:
    case kDictComp:
    case kGeneratorExp:
      return visit_comprehension(walk, node, kind, where);
    case kTry:
    case kTryStar:
      return visit_try(walk, node, where);
    case kWith:
    case kAsyncWith:
      return visit_with(walk, node, where);
    case kGlobal:
      return declare_globals(node, where.scope);
    default:
      return visit_fields(walk, node, NULL, where);
  }
}

static bool visit(struct walk* walk, PyObject* node, struct where where) {
  if (Py_EnterRecursiveCall(" while loops are looked for") != 0) return false;
  const bool done = visit_kind(walk, node, where);
  Py_LeaveRecursiveCall();
  return done;
}

// Where a statement begins to run: at its first decorator, if it has some. Borrowed.
static PyObject* first_of(const struct walk* walk, PyObject* statement) {
  const enum node kind = node_kind(&walk->nodes, statement);
  if (kind != kFunctionDef && kind != kAsyncFunctionDef && kind != kClassDef) return statement;
  PyObject* list = PyObject_GetAttrString(statement, "decorator_list");
  PyObject* first = list != NULL && PyList_Check(list) && PyList_GET_SIZE(list) > 0
                        ? PyList_GET_ITEM(list, 0)
                        : statement;
  Py_XDECREF(list);
  PyErr_Clear();
  return first;
}

// The mark of a turn stands at the begin of the body, that of the end where no turn follows.
static bool mark_loop(struct walk* walk, PyObject* node, PyObject* turn, PyObject* end,
                      PyObject* head) {
  PyObject *body = PyObject_GetAttrString(node, "body"),
           *otherwise = PyObject_GetAttrString(node, "orelse");
  const bool done = body != NULL && otherwise != NULL && PyList_Check(body) &&
                    PyList_GET_SIZE(body) > 0 && PyList_Check(otherwise) &&
                    insert_statement(walk, otherwise, 0, end, head) &&
                    insert_statement(walk, body, 0, turn, first_of(walk, PyList_GET_ITEM(body, 0)));
  Py_XDECREF(body);
  Py_XDECREF(otherwise);
  return done;
}

// `*at` is where the loop stands in its list, and then where what was put around it ends.
static bool visit_loop(struct walk* walk, PyObject* list, Py_ssize_t* at, enum node kind,
                       struct where where) {
  PyObject *node = PyList_GET_ITEM(list, *at), *turn = NULL, *begin = NULL;
  PyObject* head = PyObject_GetAttrString(node, kind == kWhile ? "test" : "iter");
  Py_INCREF(node);
  if (head != NULL)
    turn = new_turn(walk, where.scope,
                    kind == kFor     ? "for"
                    : kind == kWhile ? "while"
                                     : "async for",
                    head);
  struct around loop = {.end = turn != NULL ? marks_end(turn) : NULL};
  const struct where inside = {where.scope, &loop, false};
  bool done = loop.end != NULL && visit_fields(walk, node, "body", where) &&
              visit_field(walk, node, "body", inside) &&
              mark_loop(walk, node, turn, loop.end, head);
  if (done && kind == kAsyncFor) {
    begin = marks_begin(turn);
    done = insert_statement(walk, list, (*at)++, begin, node);
  }
  if (done && loop.ends_behind) done = insert_statement(walk, list, ++*at, loop.end, head);
  Py_XDECREF(begin);
  Py_XDECREF(loop.end);
  Py_XDECREF(turn);
  Py_XDECREF(head);
  Py_DECREF(node);
  return done;
}

// Statements, or whatever else stands in a list.
static bool visit_statements(struct walk* walk, PyObject* list, struct where where) {
  bool done = true;
  for (Py_ssize_t i = 0; done && i < PyList_GET_SIZE(list); i++) {
    PyObject* item = PyList_GET_ITEM(list, i);
    if (!is_node(&walk->nodes, item)) continue;
    const enum node kind = node_kind(&walk->nodes, item);
    if (kind == kFor || kind == kAsyncFor || kind == kWhile) {
      done = visit_loop(walk, list, &i, kind, where);
    } else if (kind == kBreak && where.loop != NULL) {
      if (where.cleans_up) {
        where.loop->ends_behind = true;
      } else {
        done = insert_statement(walk, list, i++, where.loop->end, item);
      }
    } else {
      done = visit(walk, item, where);
    }
  }
  return done;
}

bool tree_mark(PyObject* tree, PyObject* marks) {
  struct walk walk = {.marks = marks};
  if (!nodes_find(&walk.nodes, tree)) return false;
  struct scope module = {.kind = kModule, .name = PyUnicode_FromString("<module>")};
  const bool done =
      module.name != NULL && visit_fields(&walk, tree, NULL, (struct where){.scope = &module});
  Py_XDECREF(module.name);
  Py_XDECREF(module.globals);
  return done;
}

#endif
