// SPDX-License-Identifier: MIT
// Python's values as the recording can hold them. With the GIL held. New references; NULL with an
// exception set only where the program must see it: no memory, or an interrupt.
#pragma once

#include <stdbool.h>

#include "sources/python/compat.h"

// str(object) as UTF-8 without NUL: bytes and lone surrogates that are not Unicode, and NUL itself,
// are escaped. PyUnicode_AsUTF8 gives the result's bytes and cannot fail for want of Unicode.
PyObject* text_of(PyObject* object);
// An int of 64 bits, with or without sign, a float, or text_of(value).
PyObject* value_of(PyObject* value);
// The name of an exception's type.
const char* text_of_type(PyObject* type);
