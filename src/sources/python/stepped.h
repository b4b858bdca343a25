// SPDX-License-Identifier: MIT
// What a decorated generator function, coroutine function or asynchronous generator function gives:
// its generator or coroutine, with one region from the begin of the first step to the end of the
// last. While a step runs, a level is open, so that what happens in it nests.
#pragma once

#include "sources/python/traced.h"

extern PyTypeObject generator_type;
extern PyTypeObject coroutine_type;
extern PyTypeObject iterable_coroutine_type;
extern PyTypeObject async_generator_type;
extern PyTypeObject async_step_type;

// Takes over the reference to `inner`. NULL with an exception set where there is no memory.
PyObject* make_stepped(PyObject* inner, struct site* site, enum made made);
