// SPDX-License-Identifier: MIT
// Before 3.12: the function that evaluates frames (PEP 523) is exchanged for one that looks at the
// clock before and after. Unlike the profile hook it is the interpreter's, not a thread's: all
// threads are traced, those of C as well; it is not called for every function of C; the program's
// own profiler or debugger works as without us; and in 3.11, whose profile hook slows down every
// instruction, it is several times cheaper. Calls of C, where they are asked for, are told by the
// profile hook alone: a program that uses it wins, and what is missing then is counted.
#define Py_BUILD_CORE_MODULE 1
#include "sources/python/compat.h"

#if PY_VERSION_HEX < 0x030c0000

#include <frameobject.h>
#include <pthread.h>
#include <wire/spool.h>

#if PY_VERSION_HEX < 0x03090000
#include <internal/pycore_pystate.h>
#endif
#if PY_VERSION_HEX >= 0x030b0000
#include <internal/pycore_frame.h>
#endif

#include "sources/python/code.h"
#include "sources/python/marks.h"
#include "sources/python/old_libc.h"
#include "sources/python/rewrite.h"
#include "sources/python/tracer.h"

FATHOM_AS_IN_OLD_LIBC(pthread_getattr_np);
FATHOM_AS_IN_OLD_LIBC(pthread_attr_getstack);

// The three forms of the function.
#if PY_VERSION_HEX >= 0x030b0000
#define FRAME struct _PyInterpreterFrame
#define FRAME_ARGUMENTS PyThreadState *state, struct _PyInterpreterFrame *frame, int throwing
#define FRAME_VALUES state, frame, throwing
#elif PY_VERSION_HEX >= 0x03090000
#define FRAME PyFrameObject
#define FRAME_ARGUMENTS PyThreadState *state, PyFrameObject *frame, int throwing
#define FRAME_VALUES state, frame, throwing
#else
#define FRAME PyFrameObject
#define FRAME_ARGUMENTS PyFrameObject *frame, int throwing
#define FRAME_VALUES frame, throwing
#endif

static _PyFrameEvalFunction before;  // what evaluated frames until now
static bool looks_at_classes;        // after their bodies

static void set_evaluator(_PyFrameEvalFunction function) {
  PyInterpreterState* interpreter = PyThreadState_Get()->interp;
#if PY_VERSION_HEX >= 0x03090000
  _PyInterpreterState_SetEvalFrameFunc(interpreter, function);
#else
  interpreter->eval_frame = function;
#endif
}

static _PyFrameEvalFunction evaluator(void) {
  PyInterpreterState* interpreter = PyThreadState_Get()->interp;
#if PY_VERSION_HEX >= 0x03090000
  return _PyInterpreterState_GetEvalFrameFunc(interpreter);
#else
  return interpreter->eval_frame;
#endif
}

#if PY_VERSION_HEX >= 0x030b0000
// 3.11 calls functions of Python without growing the C stack, unless frames are evaluated by
// somebody else. A recursion that is deeper than the stack then ends in a crash that would not be
// without us: near its end we step aside until it has come back.
static __thread char* stack_end __attribute__((tls_model("initial-exec")));

static char* find_stack_end(void) {
  pthread_attr_t attributes;
  void* low = NULL;
  size_t size = 0;
  stack_end = (char*)1;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack_end;
  if (pthread_attr_getstack(&attributes, &low, &size) == 0) stack_end = (char*)low + size / 3;
  pthread_attr_destroy(&attributes);
  return stack_end;
}

static inline bool is_near_stack_end(void) {
  char* end = stack_end != NULL ? stack_end : find_stack_end();
  return __builtin_expect((char*)__builtin_frame_address(0) < end, 0);
}

// The call of a generator function runs as far as the generator is made.
static inline bool only_makes_generator(struct _PyInterpreterFrame* frame) {
  const int kinds = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;
  return (frame->f_code->co_flags & kinds) != 0 && _PyInterpreterFrame_LASTI(frame) < 0;
}

// Before 3.11.4 an object's __getitem__ runs inside the frame that subscribes it, whoever evaluates
// frames (gh-104405 of CPython); but for a function whose version has more than 16 bits. Those of a
// class are at hand when its body has run.
static bool subscribes_by_itself(void) { return Py_Version < 0x030b0400; }

// A reference to the names that the body of a class is about to make; NULL for other code.
static PyObject* names_of_class(struct _PyInterpreterFrame* frame) {
  if ((frame->f_code->co_flags & (CO_OPTIMIZED | CO_NEWLOCALS)) != 0) return NULL;
  if (frame->f_locals == NULL || frame->f_locals == frame->f_globals) return NULL;
  Py_INCREF(frame->f_locals);
  return frame->f_locals;
}

static void settle_subscripts(PyObject* names, bool made) {
  PyObject* found =
      made && PyDict_CheckExact(names) ? PyDict_GetItemString(names, "__getitem__") : NULL;
  static uint32_t version = UINT32_MAX;  // Python itself counts from 1 on
  if (found != NULL && PyFunction_Check(found))
    ((PyFunctionObject*)found)->func_version = version--;
  Py_DECREF(names);
}
#else
static inline bool subscribes_by_itself(void) { return false; }
static inline PyObject* names_of_class(PyFrameObject* frame) {
  (void)frame;
  return NULL;
}
static inline void settle_subscripts(PyObject* names, bool made) { (void)names, (void)made; }
static inline bool is_near_stack_end(void) { return false; }
static inline bool only_makes_generator(PyFrameObject* frame) {
  (void)frame;
  return false;
}
#endif

static PyObject* evaluate(FRAME_ARGUMENTS);

static PyObject* step_aside(FRAME_ARGUMENTS) {
  frames->lose(FATHOM_LOSS_TOO_DEEP);
  set_evaluator(before);
  PyObject* result = before(FRAME_VALUES);
  if (evaluator() == before) set_evaluator(evaluate);
  return result;
}

static int on_c_call(PyObject* self, PyFrameObject* frame, int what, PyObject* callable) {
  (void)self, (void)frame;
  if (what != PyTrace_C_CALL && what != PyTrace_C_RETURN && what != PyTrace_C_EXCEPTION) return 0;
  const uint32_t site = site_of_callable(callable);
  if (site == 0) return 0;
  if (what == PyTrace_C_CALL) {
    frames->enter(site);
  } else {
    frames->leave(site);
  }
  return 0;
}

// With no object to go with it, sys.getprofile() gives None.
static void watch_c_calls(void) {
  static __thread bool told __attribute__((tls_model("initial-exec")));
  const PyThreadState* state = PyThreadState_Get();
  if (state->c_profilefunc == on_c_call || state->tracing) return;
  if (state->c_profilefunc == NULL) return PyEval_SetProfile(on_c_call, NULL);
  if (!told) frames->lose(FATHOM_LOSS_UNBOUND);
  told = true;
}

// Where a frame has stopped, in bytes; below 0 before its first instruction.
static inline int offset_of(const FRAME* frame) {
#if PY_VERSION_HEX >= 0x030b0000
  return _PyInterpreterFrame_LASTI(frame) * (int)sizeof(_Py_CODEUNIT);
#elif PY_VERSION_HEX >= 0x030a0000
  return frame->f_lasti * (int)sizeof(_Py_CODEUNIT);
#else
  return frame->f_lasti;
#endif
}

// Of other code than the frame was made for. That frame has not begun, and nobody sees it.
static PyObject* run_rewritten(const FRAME* frame) {
  PyObject* code = code_rewritten((PyObject*)frame->f_code);
  Py_INCREF(code);
  PyObject* result = PyEval_EvalCode(code, frame->f_globals, frame->f_locals);
  Py_DECREF(code);
  return result;
}

static PyObject* evaluate(FRAME_ARGUMENTS) {
  if (only_makes_generator(frame)) return before(FRAME_VALUES);
  if (is_near_stack_end()) return step_aside(FRAME_VALUES);
  const code_word word = code_of_frame(frame->f_code, frame->f_globals);
  if (__builtin_expect(word == 0 || (word & (kLeftOut | kRewritten)) != 0, 0))
    return (word & kRewritten) != 0 ? run_rewritten(frame) : before(FRAME_VALUES);
  if (__builtin_expect(frames->wants_c_calls, 0)) watch_c_calls();
  PyObject* names = __builtin_expect(looks_at_classes, 0) ? names_of_class(frame) : NULL;
  const uint32_t site = code_site(word);
  frames->enter(site);
  if (__builtin_expect((word & kHasLoops) != 0 && !throwing, 0))
    marks_resume(frame->f_code, offset_of(frame));
  PyObject* result = before(FRAME_VALUES);
  frames->leave(site);
  if (__builtin_expect(names != NULL, 0)) settle_subscripts(names, result != NULL);
  return result;
}

void tracer_forget(void) {
  code_forget();
  marks_forget();
  rewrite_forget();
}

const char* tracer_start(void) {
  if (evaluator() == evaluate) return NULL;
  before = evaluator();
  looks_at_classes = subscribes_by_itself();
  set_evaluator(evaluate);
  return NULL;
}

void tracer_stop(void) {
  if (evaluator() == evaluate) set_evaluator(before);
  if (PyThreadState_Get()->c_profilefunc == on_c_call) PyEval_SetProfile(NULL, NULL);
}

#endif
