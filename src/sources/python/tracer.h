// SPDX-License-Identifier: MIT
// Traces every function of the interpreter: by sys.monitoring from 3.12 on (monitor.c), by the
// evaluation of frames before (evaluate.c). Each has all functions.
#pragma once

#include <stdbool.h>

#include "sources/python/frames.h"

// An interpreter begins, maybe not the first: what is known is of one that was finalised.
void tracer_forget(void);
// With the GIL held, as everything here. Begins, in all threads. NULL, or why it cannot be: a text
// that stays.
const char* tracer_start(void);
// Ends it; it can begin again.
void tracer_stop(void);
