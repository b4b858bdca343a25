// SPDX-License-Identifier: MIT
// Before 3.12: a module whose loops are wanted is run as code that tells of them. It is compiled
// from the module's source, where that compiles to exactly the code that was about to run.
#pragma once

#include "sources/python/compat.h"
#include "sources/python/frames.h"

// The code to run instead, as a new reference; NULL where there is none. Leaves no exception.
PyObject* rewrite_module(PyCodeObject* code, const struct fathom_frame_place* module);

// Another interpreter begins.
void rewrite_forget(void);
