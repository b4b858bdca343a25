// SPDX-License-Identifier: MIT
// Rows of `processes` and `threads` out of what the processes told, and the programs that could not
// be recorded.
#pragma once

#include <string>
#include <vector>

#include "trace/recording/lifespans.h"
#include "trace/recording/manifest.h"
#include "trace/rows/batch.h"
#include "trace/rows/clock.h"
#include "trace/rows/definitions.h"

namespace fathom::trace {

KnownExits known_exits(const Manifest& manifest);

std::vector<ProcessRow> process_rows(Definitions& definitions, const Clock& clock,
                                     const KnownExits& exits, const std::string& host);
// The program that was run, as its recorder knows it, unless a row tells of it: it may be one that
// the library could not enter.
void add_program(const Manifest& manifest, std::int64_t recorder, std::vector<ProcessRow>& rows);
// Processes seen from beside the programs, but those that told of themselves. The last word holds.
void add_seen_from_outside(const std::vector<ProcessRow>& seen, const std::string& host,
                           std::vector<ProcessRow>& rows);
std::vector<ThreadRow> thread_rows(Definitions& definitions, const Clock& clock,
                                   const KnownExits& exits, const std::string& host);

// Whether a process of this number attached.
[[nodiscard]] bool has_process(const Definitions& definitions, std::int64_t pid);

// Programs that were started and never attached. Looks at the program's file for the reason.
std::vector<NotCovered> not_covered(Definitions& definitions, const std::string& library);

}  // namespace fathom::trace
