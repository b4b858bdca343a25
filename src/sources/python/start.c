// SPDX-License-Identifier: MIT
// Where libfathom.so enters (interpreter.guest.cc): the extension was loaded by it, not imported,
// and the program finds no module of ours.
#include "sources/python/code.h"
#include "sources/python/tracer.h"

__attribute__((visibility("default"))) const char* fathom_trace_start(
    const struct fathom_frames* given) {
#ifdef Py_GIL_DISABLED
  (void)given;
  return "a build without the interpreter's lock is not traced";
#else
  if (given->size != sizeof *given)
    return "its extension is of another version of Fathom; build it again: fathom python add "
           "PYTHON";
  if (PyThreadState_Get()->interp != PyInterpreterState_Main()) return FATHOM_TRACE_LATER;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  tracer_forget();
  const char* why =
      code_prepare(given) ? tracer_start() : "other tools have taken all room for facts of code";
  PyErr_Restore(type, value, trace);
  return why;
#endif
}
