// SPDX-License-Identifier: MIT
// Python.h of 3.8 to 3.13 under the names of the newest.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX < 0x03090000
#define PyObject_Vectorcall _PyObject_Vectorcall
#define Py_TPFLAGS_HAVE_VECTORCALL _Py_TPFLAGS_HAVE_VECTORCALL
#endif

#define FATHOM_METHOD(function) ((PyCFunction)(void (*)(void))(function))
