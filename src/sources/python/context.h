// SPDX-License-Identifier: MIT
// Contexts of contextvars: each task of an event loop runs in one of its own, which is entered
// while the task runs. They are told apart by address; a level keeps no reference to its own.
#pragma once

#include <stdbool.h>

#include "sources/python/compat.h"

// Of the running code; NULL where none was ever needed.
static inline void* context_now(void) { return PyThreadState_Get()->context; }

// Whether code of `context` is running, or waits for a call to return: it is `now`, or `now` was
// entered from within it. Blocks from before the first context are everybody's.
bool context_is_entered(const void* context, const void* now);
