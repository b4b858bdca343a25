// SPDX-License-Identifier: MIT
// Where a version's own headers put what src/sources/perf/python/layout.cc has as numbers.
#define Py_BUILD_CORE 1
#include <Python.h>
#include <stddef.h>
#include <stdio.h>
#if PY_VERSION_HEX < 0x03090000
#include <internal/pycore_pystate.h>
#else
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#endif
#if PY_VERSION_HEX < 0x030b0000
#include <frameobject.h>
#else
#include <internal/pycore_code.h>
#include <internal/pycore_frame.h>
#endif

#define SAY(name, type, field) printf("%s %zu\n", name, offsetof(type, field))

int main(void) {
  SAY("first_interpreter", _PyRuntimeState, interpreters.head);
  SAY("next_interpreter", PyInterpreterState, next);
  SAY("next_thread", PyThreadState, next);
  SAY("interpreter_of_thread", PyThreadState, interp);
  SAY("file", PyCodeObject, co_filename);
  SAY("first_line", PyCodeObject, co_firstlineno);
  SAY("type", PyObject, ob_type);
  SAY("size", PyVarObject, ob_size);
  SAY("bytes", PyBytesObject, ob_sval);
  SAY("text_length", PyASCIIObject, length);
  SAY("text_state", PyASCIIObject, state);
  printf("ascii_text %zu\n", sizeof(PyASCIIObject));
  printf("other_text %zu\n", sizeof(PyCompactUnicodeObject));
#if PY_VERSION_HEX < 0x030a0000
  SAY("line_table", PyCodeObject, co_lnotab);
#else
  SAY("line_table", PyCodeObject, co_linetable);
#endif
#if PY_VERSION_HEX < 0x030b0000
  SAY("first_thread", PyInterpreterState, tstate_head);
  SAY("top", PyThreadState, frame);
  SAY("outer", PyFrameObject, f_back);
  SAY("code", PyFrameObject, f_code);
  SAY("instruction", PyFrameObject, f_lasti);
  SAY("name", PyCodeObject, co_name);
  SAY("bytecode", PyCodeObject, co_code);
#else
  SAY("first_thread", PyInterpreterState, threads.head);
  SAY("native_id", PyThreadState, native_thread_id);
  SAY("top", PyThreadState, cframe);
  SAY("top_in_record", _PyCFrame, current_frame);
  SAY("outer_record", _PyCFrame, previous);
  SAY("outer", _PyInterpreterFrame, previous);
  SAY("code", _PyInterpreterFrame, f_code);
  SAY("instruction", _PyInterpreterFrame, prev_instr);
  SAY("variables", _PyInterpreterFrame, localsplus);
  SAY("name", PyCodeObject, co_qualname);
  SAY("bytecode", PyCodeObject, co_code_adaptive);
#if PY_VERSION_HEX < 0x030c0000
  SAY("is_entry", _PyInterpreterFrame, is_entry);
#else
  SAY("owner", _PyInterpreterFrame, owner);
#endif
#endif
  return 0;
}
