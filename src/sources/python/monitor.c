// SPDX-License-Identifier: MIT
// From 3.12 on: sys.monitoring, as a tool with an id that nobody expects to be free. Its callbacks
// are C objects that are called by vectorcall. They return `DISABLE` for what a filter leaves out:
// Python then forgets about us in that place, and it costs nothing any more.
#include "sources/python/compat.h"

#if PY_VERSION_HEX >= 0x030c0000

#include <stddef.h>

#include "sources/python/code.h"
#include "sources/python/loops.h"
#include "sources/python/tracer.h"

// Ids 0 to 2 are a debugger's, a coverage tool's and a profiler's, 5 an optimizer's.
enum { kFirstTool = 3, kLastTool = 4 };

struct callback {
  PyObject_HEAD vectorcallfunc call;
};

static PyTypeObject callback_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fathom._record.Callback",
    .tp_basicsize = sizeof(struct callback),
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(struct callback, call),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
};

static PyObject* disable;  // sys.monitoring.DISABLE
static int tool = -1;

static inline PyObject* next_time(bool wanted) {
  PyObject* answer = wanted ? Py_None : disable;
  Py_INCREF(answer);
  return answer;
}

static inline code_word word_of_running(PyObject* code) {
  const code_word word = code_known(code);
  if (__builtin_expect(word != 0, 1)) return word;
  return code_meet((PyCodeObject*)code, PyEval_GetGlobals());
}

static inline Py_ssize_t number_of(PyObject* value) { return PyLong_AsSsize_t(value); }

// args: code, offset
static PyObject* on_start(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  (void)self, (void)count, (void)names;
  const code_word word = word_of_running(args[0]);
  if (__builtin_expect((word & kLeftOut) != 0, 0)) return next_time(false);
  if (__builtin_expect(word != 0, 1)) frames->enter(code_site(word));
  if (__builtin_expect((word & kHasLoops) != 0, 0)) loops_follow(tool, args[0]);
  Py_RETURN_NONE;
}

static PyObject* on_resume(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  (void)self, (void)count, (void)names;
  const code_word word = word_of_running(args[0]);
  if ((word & kLeftOut) != 0) return next_time(false);
  if (word != 0) frames->enter(code_site(word));
  if ((word & kHasLoops) != 0) loops_resume(args[0], number_of(args[1]));
  Py_RETURN_NONE;
}

// An exception is thrown into a generator: it runs again. This event cannot be disabled.
static PyObject* on_throw(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  (void)self, (void)count, (void)names;
  const code_word word = word_of_running(args[0]);
  if (word != 0 && (word & kLeftOut) == 0) frames->enter(code_site(word));
  Py_RETURN_NONE;
}

static inline code_word leave_frame(PyObject* code) {
  const code_word word = code_known(code);
  if (__builtin_expect(word != 0 && (word & kLeftOut) == 0, 1)) frames->leave(code_site(word));
  return word;
}

// Return, and yield. Frames that ran when tracing began are not known, and may be met again.
static PyObject* on_leave(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  (void)self, (void)count, (void)names;
  if (__builtin_expect((leave_frame(args[0]) & kLeftOut) != 0, 0)) return next_time(false);
  Py_RETURN_NONE;
}

static PyObject* on_unwind(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  (void)self, (void)count, (void)names;
  leave_frame(args[0]);
  Py_RETURN_NONE;
}

// args: code, offset, destination
static PyObject* on_jump(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  (void)self, (void)count, (void)names;
  return next_time(loops_jump(args[0], number_of(args[1]), number_of(args[2])));
}

// args: code, line
static PyObject* on_line(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  (void)self, (void)count, (void)names;
  return next_time(loops_line(args[0], number_of(args[1])));
}

// What Python runs in the frame that calls is a frame of its own, which tells by itself.
static inline bool is_of_python(PyObject* callable) {
  if (PyMethod_Check(callable)) callable = PyMethod_GET_FUNCTION(callable);
  return PyFunction_Check(callable);
}

// args: code, offset, callable, first argument
static PyObject* on_call(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  (void)self, (void)count, (void)names;
  if ((code_known(args[0]) & kLeftOut) != 0) return next_time(false);
  if (!is_of_python(args[2])) {
    const uint32_t site = site_of_callable(args[2]);
    if (site != 0) frames->enter(site);
  }
  Py_RETURN_NONE;
}

static PyObject* on_c_end(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  (void)self, (void)count, (void)names;
  if ((code_known(args[0]) & kLeftOut) == 0) {
    const uint32_t site = site_of_callable(args[2]);
    if (site != 0) frames->leave(site);
  }
  Py_RETURN_NONE;
}

static struct {
  const char* event;
  vectorcallfunc call;
  enum { kAlways, kForCCalls, kForLoops } when;
} const kCallbacks[] = {
    {"PY_START", on_start, kAlways},   {"PY_RESUME", on_resume, kAlways},
    {"PY_THROW", on_throw, kAlways},   {"PY_RETURN", on_leave, kAlways},
    {"PY_YIELD", on_leave, kAlways},   {"PY_UNWIND", on_unwind, kAlways},
    {"CALL", on_call, kForCCalls},     {"C_RETURN", on_c_end, kForCCalls},
    {"C_RAISE", on_c_end, kForCCalls}, {"JUMP", on_jump, kForLoops},
    {"BRANCH", on_jump, kForLoops},    {"LINE", on_line, kForLoops},
};

static PyObject* monitoring_function(const char* name) {
  PyObject* monitoring = PySys_GetObject("monitoring");
  return monitoring != NULL ? PyObject_GetAttrString(monitoring, name) : NULL;
}

// The value of an event; 0 with an exception set.
static unsigned long event_bit(PyObject* events, const char* name) {
  PyObject* bit = PyObject_GetAttrString(events, name);
  const unsigned long value = bit != NULL ? PyLong_AsUnsignedLong(bit) : 0;
  Py_XDECREF(bit);
  return PyErr_Occurred() != NULL ? 0 : value;
}

static bool register_one(PyObject* function, unsigned long event, vectorcallfunc call) {
  struct callback* callback = PyObject_New(struct callback, &callback_type);
  if (callback == NULL) return false;
  callback->call = call;
  PyObject* before = PyObject_CallFunction(function, "ikO", tool, event, callback);
  Py_DECREF(callback);
  Py_XDECREF(before);
  return before != NULL;
}

// Events of calls of C follow from CALL; those of loops are set for the code that has some.
static bool register_all(PyObject* function, PyObject* events, unsigned long* set) {
  for (size_t i = 0; i < sizeof kCallbacks / sizeof *kCallbacks; i++) {
    if (kCallbacks[i].when == kForCCalls && !frames->wants_c_calls) continue;
    const unsigned long event = event_bit(events, kCallbacks[i].event);
    if (event == 0 || !register_one(function, event, kCallbacks[i].call)) return false;
    if (kCallbacks[i].when == kAlways) *set |= event;
    if (kCallbacks[i].when == kForCCalls && kCallbacks[i].call == on_call) *set |= event;
    if (kCallbacks[i].when == kForLoops) loops_events |= event;
  }
  return true;
}

static bool take_tool(void) {
  PyObject* function = monitoring_function("use_tool_id");
  for (int id = kFirstTool; function != NULL && tool < 0 && id <= kLastTool; id++) {
    PyObject* done = PyObject_CallFunction(function, "is", id, "fathom");
    if (done != NULL) tool = id;
    Py_XDECREF(done);
    PyErr_Clear();
  }
  Py_XDECREF(function);
  return tool >= 0;
}

static bool set_events(unsigned long events) {
  PyObject* function = monitoring_function("set_events");
  PyObject* done = function != NULL ? PyObject_CallFunction(function, "ik", tool, events) : NULL;
  Py_XDECREF(function);
  Py_XDECREF(done);
  return done != NULL;
}

static bool begin(void) {
  unsigned long set = 0;
  PyObject *function = monitoring_function("register_callback"),
           *events = function != NULL ? monitoring_function("events") : NULL;
  if (disable == NULL && events != NULL) disable = monitoring_function("DISABLE");
  const bool ready = disable != NULL && register_all(function, events, &set);
  Py_XDECREF(function);
  Py_XDECREF(events);
  return ready && set_events(set);
}

// A type that was ready has a dictionary of the interpreter in which it became so.
void tracer_forget(void) {
  static PyTypeObject fresh;
  if (fresh.tp_name == NULL) fresh = callback_type;
  callback_type = fresh;
  disable = NULL;
  tool = -1;
  loops_forget();
}

const char* tracer_start(void) {
  if (PyType_Ready(&callback_type) != 0 || PySys_GetObject("monitoring") == NULL)
    return "it has no sys.monitoring";
  if (tool < 0 && !take_tool()) return "all ids of sys.monitoring that are nobody's are in use";
  return begin() ? NULL : "sys.monitoring refused";
}

void tracer_stop(void) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  if (tool >= 0) set_events(0);
  PyErr_Restore(type, value, trace);
}

#endif
