// SPDX-License-Identifier: MIT
// Rows of `processes` and `threads` out of what the processes told, and the programs that could not
// be recorded.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "trace/recording/manifest.h"
#include "trace/rows/batch.h"
#include "trace/rows/clock.h"
#include "trace/rows/definitions.h"

namespace fathom::trace {

// Exit statuses that the recorder itself waited for: pid to status as in `processes.exit`.
using KnownExits = std::map<std::int64_t, std::int64_t>;
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
                                   const std::string& host);

// Whether a process of this number attached.
[[nodiscard]] bool has_process(const Definitions& definitions, std::int64_t pid);

// Programs that were started and never attached. Looks at the program's file for the reason.
std::vector<NotCovered> not_covered(Definitions& definitions, const std::string& library);

// Whether the process said that it ends or becomes another program: calls that its threads were in
// then were cut by that.
bool ended_in_order(const Process& process);

// 128 + N for signal N, as a shell says it.
std::int64_t exit_of_wait_status(std::int64_t status);

}  // namespace fathom::trace
