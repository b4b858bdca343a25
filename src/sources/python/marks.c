// SPDX-License-Identifier: MIT
// Marks of loops, before Python 3.12 had events for them: constants that rewritten code calls where
// a loop begins, turns and ends (rewrite.c puts them there). A mark has to know whether a loop
// turns at all, or it would tell of code that only looks like one, and in which loops a generator
// goes on that was left in their midst. Both come from the compiled code: loops are found by their
// jumps back, as from 3.12 on.
#include "sources/python/marks.h"

#if PY_VERSION_HEX < 0x030c0000

#include <limits.h>
#include <opcode.h>
#include <stddef.h>
#include <stdlib.h>
#include <wire/spool.h>

#include "sources/python/code.h"
#include "sources/python/loops.h"
#include "sources/python/tree.h"

struct mark {
  PyObject_HEAD vectorcallfunc call;
  struct mark* loop;        // that of its turns; borrowed by itself
  PyObject* name;           // of turns: "function.<for 12>"
  uint32_t line, which;     // loops in one place are numbered
  uint32_t site, function;  // 0: nothing is told
  bool at_start;            // it begins with the function
};

static inline uint64_t loop_of(const struct mark* mark) {
  return fathom_loop(mark->site, mark->which);
}

// Each is called by the program's own code, so it must return what that code expects: true for a
// turn, which stands in a condition.
static PyObject* on_turn(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  const struct mark* mark = (const struct mark*)self;
  (void)args, (void)count, (void)names;
  if (__builtin_expect(mark->site != 0, 1)) frames->turn(mark->function, loop_of(mark), 1);
  Py_RETURN_TRUE;
}

static PyObject* on_begin(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  const struct mark* loop = ((const struct mark*)self)->loop;
  (void)args, (void)count, (void)names;
  if (loop->site != 0) frames->turn(loop->function, loop_of(loop), 0);
  Py_RETURN_NONE;
}

static PyObject* on_end(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  const struct mark* loop = ((const struct mark*)self)->loop;
  (void)args, (void)count, (void)names;
  if (loop->site != 0) frames->leave_loop(loop_of(loop));
  Py_RETURN_NONE;
}

static void free_mark(PyObject* self) {
  struct mark* mark = (struct mark*)self;
  if (mark->loop != mark) Py_XDECREF(mark->loop);
  Py_XDECREF(mark->name);
  PyObject_Free(self);
}

// Code that a program pickles calls `object` in its place, which is true as well.
static PyObject* reduce(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  PyObject* builtins = PyEval_GetBuiltins();
  PyObject* eval = builtins != NULL ? PyDict_GetItemString(builtins, "eval") : NULL;
  if (eval != NULL) return Py_BuildValue("O(s)", eval, "object");
  PyErr_SetString(PyExc_RuntimeError, "there is no eval");
  return NULL;
}

static PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject mark_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fathom._record.Mark",
    .tp_basicsize = sizeof(struct mark),
    .tp_dealloc = free_mark,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(struct mark, call),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_methods = methods,
};

static struct mark* new_mark(vectorcallfunc call) {
  if (PyType_Ready(&mark_type) != 0) return NULL;
  struct mark* mark = PyObject_New(struct mark, &mark_type);
  if (mark == NULL) return NULL;
  mark->call = call;
  mark->loop = mark;
  mark->name = NULL;
  mark->line = mark->which = mark->site = mark->function = 0;
  mark->at_start = false;
  return mark;
}

PyObject* marks_turn(PyObject* name, long line, Py_ssize_t which) {
  struct mark* mark = new_mark(on_turn);
  if (mark == NULL) return NULL;
  Py_XINCREF(name);
  mark->name = name;
  mark->line = (uint32_t)line;
  mark->which = (uint32_t)which;
  return (PyObject*)mark;
}

void marks_begin_at_start(PyObject* turn) { ((struct mark*)turn)->at_start = true; }

static PyObject* mark_of(PyObject* turn, vectorcallfunc call) {
  struct mark* mark = new_mark(call);
  if (mark == NULL) return NULL;
  Py_INCREF(turn);
  mark->loop = (struct mark*)turn;
  return (PyObject*)mark;
}

PyObject* marks_begin(PyObject* turn) { return mark_of(turn, on_begin); }
PyObject* marks_end(PyObject* turn) { return mark_of(turn, on_end); }

// The number in a constant that stands for a mark; -1: it is one of the program's.
static Py_ssize_t number_of(PyObject* constant, PyObject* marks) {
  if (!PyBytes_CheckExact(constant) || (unsigned char)*PyBytes_AS_STRING(constant) != 0xff)
    return -1;
  Py_ssize_t number = 0;
  for (const char* at = PyBytes_AS_STRING(constant); *at != 0 && number < INT_MAX / 10; at++) {
    if (*at >= '0' && *at <= '9') number = 10 * number + (*at - '0');
  }
  if (number >= PyList_GET_SIZE(marks)) return -1;
  PyObject* own = tree_constant(number);
  const bool same = own != NULL && PyObject_RichCompareBool(own, constant, Py_EQ) == 1;
  Py_XDECREF(own);
  return same ? number : -1;
}

// The code is ours alone, fresh from the compiler: its constants are exchanged where they lie.
bool marks_settle(PyCodeObject* code, PyObject* marks) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_consts); i++) {
    PyObject* constant = PyTuple_GET_ITEM(code->co_consts, i);
    if (PyCode_Check(constant)) {
      if (!marks_settle((PyCodeObject*)constant, marks)) return false;
      continue;
    }
    const Py_ssize_t number = number_of(constant, marks);
    if (number < 0) continue;
    PyObject* mark = PyList_GET_ITEM(marks, number);
    Py_INCREF(mark);
    PyTuple_SET_ITEM(code->co_consts, i, mark);
    Py_DECREF(constant);
  }
  return PyErr_Occurred() == NULL;
}

struct instruction {
  int offset, code, argument;
  int target;  // -1: does not jump
  bool goes_on, reached;
};

struct listing {
  struct instruction* rows;
  int count;
};

#if PY_VERSION_HEX >= 0x030b0000
enum { kUnit = 2 };
static bool is_code(int byte) { return byte != CACHE; }
static const unsigned char kBack[] = {JUMP_BACKWARD, POP_JUMP_BACKWARD_IF_NOT_NONE,
                                      POP_JUMP_BACKWARD_IF_NONE, POP_JUMP_BACKWARD_IF_FALSE,
                                      POP_JUMP_BACKWARD_IF_TRUE};
static const unsigned char kAbsolute[1], kForward[1], kEnds[1];
static PyObject* bytes_of_code(PyCodeObject* code) { return PyCode_GetCode(code); }
#else
enum { kUnit = PY_VERSION_HEX >= 0x030a0000 ? 2 : 1 };
static bool is_code(int byte) { return (void)byte, true; }
static const unsigned char kBack[1];
static const unsigned char kAbsolute[] = {
    JUMP_ABSOLUTE,         POP_JUMP_IF_FALSE,   POP_JUMP_IF_TRUE,
    JUMP_IF_FALSE_OR_POP,  JUMP_IF_TRUE_OR_POP,
#if PY_VERSION_HEX >= 0x03090000
    JUMP_IF_NOT_EXC_MATCH,
#endif
};
static const unsigned char kForward[] = {
    FOR_ITER,     JUMP_FORWARD, SETUP_FINALLY, SETUP_WITH, SETUP_ASYNC_WITH,
#if PY_VERSION_HEX < 0x03090000
    CALL_FINALLY,
#endif
};
static const unsigned char kEnds[] = {
    RETURN_VALUE, RAISE_VARARGS, JUMP_ABSOLUTE, JUMP_FORWARD,
#if PY_VERSION_HEX >= 0x03090000
    RERAISE,
#endif
};
static PyObject* bytes_of_code(PyCodeObject* code) {
  Py_INCREF(code->co_code);
  return code->co_code;
}
#endif

static bool is_among(const unsigned char* codes, size_t count, int code) {
  for (size_t i = 0; i < count; i++) {
    if (codes[i] == code && code != 0) return true;
  }
  return false;
}
#define IS_AMONG(codes, code) is_among(codes, sizeof(codes), code)

// With the prefixes that make its argument longer, and the caches behind it, in which nothing is
// to be executed.
static struct instruction next_instruction(const unsigned char* bytes, Py_ssize_t size,
                                           Py_ssize_t* at) {
  struct instruction one = {.target = -1};
  while (*at + 2 < size && bytes[*at] == EXTENDED_ARG) {
    one.argument = (int)((unsigned)(one.argument | bytes[*at + 1]) << 8);
    *at += 2;
  }
  one.offset = (int)*at;
  one.code = bytes[*at];
  one.argument |= bytes[*at + 1];
  *at += 2;
  while (*at + 1 < size && !is_code(bytes[*at])) *at += 2;
  if (IS_AMONG(kBack, one.code)) one.target = (int)*at - kUnit * one.argument;
  if (IS_AMONG(kAbsolute, one.code)) one.target = kUnit * one.argument;
  if (IS_AMONG(kForward, one.code)) one.target = (int)*at + kUnit * one.argument;
  one.goes_on = !IS_AMONG(kEnds, one.code);
  return one;
}

static struct listing list_instructions(PyCodeObject* code) {
  struct listing listing = {NULL, 0};
  PyObject* text = bytes_of_code(code);
  if (text == NULL) return listing;
  const Py_ssize_t size = PyBytes_GET_SIZE(text);
  listing.rows = calloc((size_t)size / 2 + 1, sizeof *listing.rows);
  const unsigned char* bytes = (const unsigned char*)PyBytes_AS_STRING(text);
  for (Py_ssize_t at = 0; listing.rows != NULL && at + 1 < size;)
    listing.rows[listing.count++] = next_instruction(bytes, size, &at);
  Py_DECREF(text);
  return listing;
}

// Before 3.10 code stays that nothing leads to. Jumps lead forward but for those of loops, so that
// two rounds are enough for loops that lie inside each other; more change nothing.
static void find_reached(struct listing* listing) {
  bool more = listing->count > 0;
  if (more) listing->rows[0].reached = true;
  while (more) {
    more = false;
    for (int i = 0; i < listing->count; i++) {
      struct instruction* one = &listing->rows[i];
      if (!one->reached) continue;
      if (one->goes_on && i + 1 < listing->count) listing->rows[i + 1].reached = true;
      for (int j = 0; one->target >= 0 && j < listing->count; j++) {
        // A jump may lead to the prefix of an instruction, which lies before it.
        if (listing->rows[j].offset < one->target) continue;
        more |= !listing->rows[j].reached && j < i;
        listing->rows[j].reached = true;
        break;
      }
    }
  }
}

static bool is_back(const struct instruction* one) {
  return one->target >= 0 && one->target <= one->offset &&
         (PY_VERSION_HEX >= 0x030a0000 || one->reached);
}

// A loop that a generator may go on in.
struct region {
  int head, tail;
  const struct mark* mark;
};

struct regions {
  int count;
  struct region rows[];
};

// What belongs to a code object is kept with it, by a number that the interpreter gave us.
static Py_ssize_t regions_index = -1;

void marks_forget(void) {
  static PyTypeObject fresh;
  if (fresh.tp_name == NULL) fresh = mark_type;
  mark_type = fresh;
  regions_index = -1;
}

static struct mark* mark_at(PyCodeObject* code, const struct instruction* one) {
  if (one->code != LOAD_CONST || one->argument >= PyTuple_GET_SIZE(code->co_consts)) return NULL;
  PyObject* constant = PyTuple_GET_ITEM(code->co_consts, one->argument);
  struct mark* mark = (struct mark*)constant;
  return Py_TYPE(constant) == &mark_type && mark->call == on_turn ? mark : NULL;
}

// The loop that a jump back belongs to is the one whose turn begins next behind its target.
static struct mark* turned_by(PyCodeObject* code, const struct listing* listing,
                              const struct instruction* jump) {
  for (int i = 0; i < listing->count && listing->rows[i].offset < jump->offset; i++) {
    if (listing->rows[i].offset < jump->target) continue;
    struct mark* mark = mark_at(code, &listing->rows[i]);
    if (mark != NULL) return mark;
  }
  return NULL;
}

// A loop has its place in the recording from the first time that its function is met.
static void settle_mark(struct mark* mark, const struct fathom_frame_place* function,
                        uint32_t site) {
  if (mark->site != 0 || mark->name == NULL) return;
  const char* name = PyUnicode_AsUTF8(mark->name);
  if (name == NULL) return PyErr_Clear();
  const struct fathom_frame_place place = {
      .name = name, .module = function->module, .file = function->file, .line = mark->line};
  mark->function = site;
  mark->site = frames->site(&place);
}

static void add_region(struct regions* regions, const struct instruction* jump,
                       const struct mark* mark) {
  for (int i = 0; i < regions->count; i++) {
    struct region* one = &regions->rows[i];
    if (one->mark != mark || one->head > jump->target || one->tail < jump->target) continue;
    if (one->tail < jump->offset) one->tail = jump->offset;
    return;
  }
  regions->rows[regions->count++] = (struct region){jump->target, jump->offset, mark};
}

static bool keep_regions(PyCodeObject* code, struct regions* regions) {
  const int steps = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;
  if (regions->count > 0 && (code->co_flags & steps) != 0) {
    if (regions_index < 0) regions_index = PyUnstable_Eval_RequestCodeExtraIndex(free);
    if (regions_index >= 0 &&
        PyUnstable_Code_SetExtra((PyObject*)code, regions_index, regions) == 0)
      return true;
  }
  free(regions);
  return false;
}

// Only loops that turn are told of. One without a mark is of code that could not be rewritten.
bool loops_find(PyCodeObject* code, const struct fathom_frame_place* function, uint32_t site) {
  struct listing listing = list_instructions(code);
  if (PY_VERSION_HEX < 0x030a0000) find_reached(&listing);
  int back = 0;
  for (int i = 0; i < listing.count; i++) back += is_back(&listing.rows[i]);
  struct regions* regions = calloc(1, sizeof *regions + (size_t)back * sizeof *regions->rows);
  bool unknown = false;
  for (int i = 0; regions != NULL && i < listing.count; i++) {
    if (!is_back(&listing.rows[i])) continue;
    struct mark* mark = turned_by(code, &listing, &listing.rows[i]);
    unknown |= mark == NULL;
    if (mark == NULL) continue;
    settle_mark(mark, function, site);
    add_region(regions, &listing.rows[i], mark);
  }
  free(listing.rows);
  if (unknown) frames->lose(FATHOM_LOSS_UNBOUND);
  return regions != NULL && keep_regions(code, regions);
}

// From the outermost to the innermost.
void marks_resume(PyCodeObject* code, int offset) {
  void* found = NULL;
  if (regions_index >= 0) PyUnstable_Code_GetExtra((PyObject*)code, regions_index, &found);
  const struct regions* regions = found;
  int around = -1;
  for (;;) {
    const struct region* next = NULL;
    for (int i = 0; regions != NULL && i < regions->count; i++) {
      const struct region* one = &regions->rows[i];
      const bool begins = one->mark->at_start && offset < one->head;
      const bool holds = begins || (offset >= one->head && offset <= one->tail);
      if (holds && one->head > around && (next == NULL || one->head < next->head)) next = one;
    }
    if (next == NULL) return;
    frames->turn(next->mark->function, loop_of(next->mark), FATHOM_LOOP_RESUMES);
    around = next->head;
  }
}

#endif
