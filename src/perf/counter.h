// SPDX-License-Identifier: MIT
// Opens an event that counts, as far as this user may.
#pragma once

#include <linux/perf_event.h>

#include "base/files.h"
#include "base/result.h"
#include "perf/event.h"
#include "perf/open.h"

namespace fathom::perf {

// The counter, or why there is none.
struct Opened {
  Result<Fd> fd;
  bool user_only = false;  // what happens in the kernel is left out, though nobody asked for that
};

// Users who may not look into the kernel still count their own code. What only ever happens in the
// kernel would be 0 then, and is refused instead. `attr` is event.attr() and what else is wanted.
Opened open_counter(const Event& event, perf_event_attr attr, const Target& target);

}  // namespace fathom::perf
