// SPDX-License-Identifier: MIT
// Finds loops in the bytecode by their backward jumps and follows their turns by sys.monitoring.
// Python 3.12 and newer; older ones have no such events, and marks.c instead.
#include "sources/python/loops.h"

#include "sources/python/code.h"

#if PY_VERSION_HEX >= 0x030c0000

#include <opcode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned long loops_events;

// Offsets are in bytes, as sys.monitoring tells them.
struct loop {
  int head, tail;   // from its first instruction to the last one that jumps back
  int before_head;  // a NOP before it that `continue` jumps to, in a `while True`; -1: none
  int turns_at;     // the instruction that tells of a turn
  int begins_at;    // a branch that leads into its first turn; -1: none
  int begins_on;    // a line that does; 0: none
  bool counts;      // turns_at is FOR_ITER, which tells of the end as well
  int ends_at;      // where that leads to then; handlers of the loop may lie behind it
  bool is_async;    // its last look for an item is no turn, and ends by an exception
  uint64_t id;
};

// Places that lead out of a loop stand behind the loops.
struct loops {
  bool followed;
  int loop_count, exit_count;
  struct loop loops[];
};

static int* exits_of(struct loops* loops) { return (int*)&loops->loops[loops->loop_count]; }

struct instruction {
  int offset, first;  // `first` is that of its prefixes
  int code, target;   // -1: does not jump
  int jumps_to;       // where it says that it jumps, if that is a NOP before `target`; else -1
};

static Py_ssize_t table_index = -1;

void loops_forget(void) {
  table_index = -1;
  loops_events = 0;
}

static struct loops* loops_of(PyObject* code) {
  void* table = NULL;
  if (table_index >= 0) PyUnstable_Code_GetExtra(code, table_index, &table);
  return table;
}

static bool jumps_forward(int code) {
  switch (code) {
    case FOR_ITER:
    case JUMP_FORWARD:
    case POP_JUMP_IF_FALSE:
    case POP_JUMP_IF_TRUE:
    case POP_JUMP_IF_NONE:
    case POP_JUMP_IF_NOT_NONE:
      return true;
    default:
      return false;
  }
}

static bool branches(int code) {
  return jumps_forward(code) && code != FOR_ITER && code != JUMP_FORWARD;
}

// Reads the instruction at *at and goes on behind it and its caches.
static struct instruction next_instruction(const unsigned char* bytes, Py_ssize_t size,
                                           Py_ssize_t* at) {
  struct instruction one = {.first = (int)*at, .target = -1, .jumps_to = -1};
  unsigned argument = 0;
  while (*at + 2 < size && bytes[*at] == EXTENDED_ARG) {
    argument = (argument | bytes[*at + 1]) << 8;
    *at += 2;
  }
  one.offset = (int)*at;
  one.code = bytes[*at];
  argument |= bytes[*at + 1];
  *at += 2;
  while (*at + 1 < size && bytes[*at] == CACHE) *at += 2;
  if (one.code == JUMP_BACKWARD) one.target = (int)*at - 2 * (int)argument;
  if (jumps_forward(one.code)) one.target = (int)*at + 2 * (int)argument;
  return one;
}

struct listing {
  struct instruction* rows;
  int count;
};

// What a loop is stands in no table: it is a jump back, and where that leads is its head.
static bool is_jumped_back_to(const struct listing* listing, int target) {
  for (int i = 0; i < listing->count; i++) {
    if (listing->rows[i].code == JUMP_BACKWARD && listing->rows[i].target == target) return true;
  }
  return false;
}

// `continue` in a `while True` jumps to the NOP that stands for its line, its end to what is
// behind: both are turns of one loop.
static void skip_nops(struct listing* listing) {
  for (int i = 0; i < listing->count; i++) {
    struct instruction* jump = &listing->rows[i];
    if (jump->code != JUMP_BACKWARD) continue;
    for (int to = 0; to + 1 < i; to++) {
      if (listing->rows[to].offset != jump->target || listing->rows[to].code != NOP) continue;
      if (!is_jumped_back_to(listing, listing->rows[to + 1].first)) break;
      jump->jumps_to = jump->target;
      jump->target = listing->rows[to + 1].first;
      break;
    }
  }
}

static struct listing list_instructions(PyCodeObject* code) {
  struct listing listing = {NULL, 0};
  PyObject* text = PyCode_GetCode(code);
  if (text == NULL) return listing;
  const Py_ssize_t size = PyBytes_GET_SIZE(text);
  listing.rows = calloc((size_t)size / 2 + 1, sizeof *listing.rows);
  const unsigned char* bytes = (const unsigned char*)PyBytes_AS_STRING(text);
  for (Py_ssize_t at = 0; listing.rows != NULL && at + 1 < size;)
    listing.rows[listing.count++] = next_instruction(bytes, size, &at);
  Py_DECREF(text);
  skip_nops(&listing);
  return listing;
}

// A line of the table of handlers: code from `start` on that a handler protects. -1: its end.
struct handler {
  int start, target;
};

// As location tables have them: six bits a byte, the highest first, one bit that says whether more
// follow.
static int next_number(const unsigned char** at, const unsigned char* end) {
  int number = 0;
  while (*at < end) {
    const unsigned char byte = *(*at)++;
    number = (number << 6) | (byte & 63);
    if ((byte & 64) == 0) break;
  }
  return number;
}

static struct handler next_handler(const unsigned char** at, const unsigned char* end) {
  if (*at >= end) return (struct handler){-1, -1};
  struct handler one = {.start = 2 * next_number(at, end)};
  next_number(at, end);  // how long it is
  one.target = 2 * next_number(at, end);
  next_number(at, end);
  return one;
}

// Handlers lie behind all other code, and jump back to where it goes on. That is a turn only where
// the code which they protect lies behind their destination.
static bool turns(PyCodeObject* code, const struct instruction* jump) {
  const unsigned char* table = (const unsigned char*)PyBytes_AS_STRING(code->co_exceptiontable);
  const unsigned char* end = table + PyBytes_GET_SIZE(code->co_exceptiontable);
  int target = -1;
  const unsigned char* at = table;
  for (struct handler one; (one = next_handler(&at, end)).start >= 0;) {
    if (one.target <= jump->offset && one.target > target) target = one.target;
  }
  at = table;
  for (struct handler one; target >= 0 && (one = next_handler(&at, end)).start >= 0;) {
    if (one.target == target && one.start >= jump->target) return true;
  }
  return target < 0;
}

static struct loop* loop_with_head(struct loops* loops, int head) {
  for (int i = 0; i < loops->loop_count; i++) {
    if (loops->loops[i].head == head) return &loops->loops[i];
  }
  return NULL;
}

// The smallest loop that an offset lies in.
static struct loop* innermost(struct loops* loops, int offset) {
  struct loop* found = NULL;
  for (int i = 0; i < loops->loop_count; i++) {
    struct loop* one = &loops->loops[i];
    if (offset < one->head || offset > one->tail) continue;
    if (found == NULL || one->tail - one->head < found->tail - found->head) found = one;
  }
  return found;
}

static bool holds(const struct loop* loop, Py_ssize_t offset) {
  return offset >= loop->head && offset <= loop->tail;
}

// Named by its function and the line where it begins, which is the same in all turns.
static uint32_t loop_site(PyCodeObject* code, const struct loop* loop, const char* kind,
                          const struct fathom_frame_place* function) {
  char name[1024];
  const int at = loop->begins_at >= 0 ? loop->begins_at : loop->turns_at;
  const int line = loop->begins_on > 0 ? loop->begins_on : PyCode_Addr2Line(code, at);
  snprintf(name, sizeof name, "%s.<%s %d>", function->name, kind, line);
  const struct fathom_frame_place place = {.name = name,
                                           .module = function->module,
                                           .file = function->file,
                                           .line = line > 0 ? (uint32_t)line : 0};
  return frames->site(&place);
}

static const struct instruction* instruction_at(const struct listing* listing, int offset) {
  for (int i = 0; i < listing->count; i++) {
    if (listing->rows[i].first <= offset && offset <= listing->rows[i].offset)
      return &listing->rows[i];
  }
  return NULL;
}

// The test of a `while` before its first turn, which leads into it: right before its head, or with
// a jump between that goes on with the loop around it. A jump back of the loop before is none.
static const struct instruction* first_test(struct loops* loops, const struct listing* listing,
                                            const struct instruction* head) {
  const struct instruction* before = head != NULL && head > listing->rows ? head - 1 : NULL;
  if (before == NULL || branches(before->code)) return before;
  if (before->target < 0 || before == listing->rows) return NULL;
  const struct loop* left = loop_with_head(loops, before->target);
  if (left != NULL && left->tail < head->first) return NULL;
  return branches(before[-1].code) && before[-1].target == head->first ? before - 1 : NULL;
}

// Its iterator is brought behind the result, which a `for` has not.
static bool begins_comprehension(const struct listing* listing, const struct loop* loop) {
  const struct instruction* head = instruction_at(listing, loop->head);
  return head != NULL && head > listing->rows && head[-1].code == SWAP;
}

// Statements stand in modules, classes and functions with a name. A comprehension holds none, so
// that any loop inside is one of its own.
static bool is_comprehension(PyCodeObject* code, const struct listing* listing,
                             const struct loops* loops, const struct loop* loop) {
  const char* name = PyUnicode_AsUTF8(code->co_name);
  if (name == NULL) PyErr_Clear();
  if (name != NULL && name[0] == '<' && strcmp(name, "<module>") != 0) return true;
  for (int i = 0; i < loops->loop_count; i++) {
    const struct loop* one = &loops->loops[i];
    if (holds(one, loop->head) && begins_comprehension(listing, one)) return true;
  }
  return false;
}

// How it begins and turns. A `for` tells by FOR_ITER. A `while` tests once before its first turn,
// and at the end of each: one that does not test begins on the line before its body.
static void settle_loop(PyCodeObject* code, const struct listing* listing, struct loops* loops,
                        unsigned which, const struct fathom_frame_place* function) {
  struct loop* loop = &loops->loops[which];
  const struct instruction* head = instruction_at(listing, loop->head);
  const struct instruction* before = head != NULL && head > listing->rows ? head - 1 : NULL;
  const struct instruction* test = first_test(loops, listing, head);
  loop->turns_at = loop->tail;
  loop->begins_at = -1;
  loop->begins_on = 0;
  const char* kind = "while";
  if (head != NULL && head->code == FOR_ITER) {
    loop->counts = true;
    loop->ends_at = head->target;
    loop->turns_at = head->offset;
    kind = "for";
  } else if (test != NULL) {
    loop->begins_at = test->offset;
  } else if (before != NULL) {
    loop->is_async = head->code == GET_ANEXT;
    if (loop->is_async) kind = "async for";
    loop->begins_on = PyCode_Addr2Line(code, before->target >= 0 ? head->offset : before->offset);
  }
  if (is_comprehension(code, listing, loops, loop)) kind = "comprehension";
  loop->id = fathom_loop(loop_site(code, loop, kind, function), which);
}

// Jumps out of a loop: `break`, and the end of a test.
static void find_exits(const struct listing* listing, struct loops* loops) {
  int* exits = exits_of(loops);
  for (int i = 0; i < listing->count; i++) {
    const struct instruction* one = &listing->rows[i];
    if (one->target < 0 || one->code == FOR_ITER) continue;
    const struct loop* around = innermost(loops, one->offset);
    if (around != NULL && !holds(around, one->target)) exits[loops->exit_count++] = one->offset;
  }
}

// One allocation, which the code object keeps and frees: loops, and exits behind them.
static struct loops* make_table(PyCodeObject* code, const struct listing* listing,
                                const struct fathom_frame_place* function) {
  int back = 0, jumps = 0;
  for (int i = 0; i < listing->count; i++) {
    back += listing->rows[i].code == JUMP_BACKWARD;
    jumps += listing->rows[i].target >= 0;
  }
  if (back == 0) return NULL;
  struct loops* loops =
      calloc(1, sizeof *loops + (size_t)back * sizeof *loops->loops + (size_t)jumps * sizeof(int));
  if (loops == NULL) return NULL;
  for (int i = 0; i < listing->count; i++) {
    const struct instruction* one = &listing->rows[i];
    if (one->code != JUMP_BACKWARD) continue;
    const struct instruction* head = instruction_at(listing, one->target);
    const bool is_for = head != NULL && (head->code == FOR_ITER || head->code == GET_ANEXT);
    if (!is_for && !turns(code, one)) continue;
    struct loop* loop = loop_with_head(loops, one->target);
    if (loop == NULL) {
      loop = &loops->loops[loops->loop_count++];
      loop->before_head = -1;
    }
    loop->head = one->target;
    loop->tail = one->offset;
    if (one->jumps_to >= 0) loop->before_head = one->jumps_to;
  }
  for (int i = 0; i < loops->loop_count; i++)
    settle_loop(code, listing, loops, (unsigned)i, function);
  find_exits(listing, loops);
  return loops;
}

bool loops_find(PyCodeObject* code, const struct fathom_frame_place* function, uint32_t site) {
  (void)site;
  if (table_index < 0) table_index = PyUnstable_Eval_RequestCodeExtraIndex(free);
  if (table_index < 0) return false;
  struct listing listing = list_instructions(code);
  struct loops* loops = listing.rows != NULL ? make_table(code, &listing, function) : NULL;
  free(listing.rows);
  if (loops == NULL) return false;
  if (PyUnstable_Code_SetExtra((PyObject*)code, table_index, loops) == 0) return true;
  free(loops);
  return false;
}

void loops_follow(int tool, PyObject* code) {
  struct loops* loops = loops_of(code);
  if (loops == NULL || loops->followed) return;
  loops->followed = true;
  PyObject* monitoring = PySys_GetObject("monitoring");
  PyObject* done = monitoring != NULL ? PyObject_CallMethod(monitoring, "set_local_events", "iOk",
                                                            tool, code, loops_events)
                                      : NULL;
  Py_XDECREF(done);
  PyErr_Clear();
}

// From the outermost to the innermost: heads of outer loops come first.
void loops_resume(PyObject* code, Py_ssize_t offset) {
  struct loops* loops = loops_of(code);
  if (loops == NULL) return;
  int around = -1;
  for (;;) {
    struct loop* next = NULL;
    for (int i = 0; i < loops->loop_count; i++) {
      struct loop* one = &loops->loops[i];
      if (holds(one, offset) && one->head > around && (next == NULL || one->head < next->head))
        next = one;
    }
    if (next == NULL) return;
    frames->turn(0, next->id, FATHOM_LOOP_RESUMES);
    around = next->head;
  }
}

// Ends the outermost loop that is left, and with it those inside.
static void leave_loops(struct loops* loops, Py_ssize_t offset, Py_ssize_t destination) {
  struct loop* left = NULL;
  for (int i = 0; i < loops->loop_count; i++) {
    struct loop* one = &loops->loops[i];
    if (holds(one, offset) && !holds(one, destination) &&
        (left == NULL || one->tail - one->head > left->tail - left->head))
      left = one;
  }
  if (left != NULL) frames->leave_loop(left->id);
}

static bool is_exit(struct loops* loops, Py_ssize_t offset) {
  const int* exits = exits_of(loops);
  for (int i = 0; i < loops->exit_count; i++) {
    if (exits[i] == offset) return true;
  }
  return false;
}

// The begin of a turn; where the first one was not seen, that lies behind us. An `async for` tells
// of the end of turns alone.
static void turn_back(const struct loop* loop) {
  if (frames->turn(0, loop->id, 1) && !loop->is_async) frames->turn(0, loop->id, 1);
}

bool loops_jump(PyObject* code, Py_ssize_t offset, Py_ssize_t destination) {
  struct loops* loops = loops_of(code);
  if (loops == NULL) return false;
  bool wanted = false;
  for (int i = 0; i < loops->loop_count; i++) {
    if (loops->loops[i].before_head == destination) destination = loops->loops[i].head;
  }
  for (int i = 0; i < loops->loop_count; i++) {
    const struct loop* loop = &loops->loops[i];
    if (loop->turns_at == offset && loop->counts) {
      if (destination < loop->ends_at) {
        frames->turn(0, loop->id, 1);
      } else {
        frames->leave_loop(loop->id);
      }
      return true;
    }
    if (destination == loop->head && !loop->counts && offset > destination) {
      turn_back(loop);
      return true;
    }
    if (loop->begins_at == offset) {
      wanted = true;
      if (holds(loop, destination)) frames->turn(0, loop->id, 1);
    }
  }
  if (!is_exit(loops, offset)) return wanted;
  leave_loops(loops, offset, destination);
  return true;
}

bool loops_line(PyObject* code, Py_ssize_t line) {
  struct loops* loops = loops_of(code);
  bool wanted = false;
  for (int i = 0; loops != NULL && i < loops->loop_count; i++) {
    const struct loop* loop = &loops->loops[i];
    if (loop->begins_on != line || !frames->turn(0, loop->id, 0)) continue;
    wanted = true;
    if (!loop->is_async) frames->turn(0, loop->id, 1);
  }
  return wanted;
}

#endif
