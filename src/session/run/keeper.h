// SPDX-License-Identifier: MIT
// What goes on when `fathom run` has returned: processes that outlive the program are recorded to
// their end by a process of their own, which belongs to no terminal and to nobody's streams.
#pragma once

#include "base/result.h"
#include "session/host_sources.h"
#include "session/run/program.h"
#include "session/stream/pump.h"

namespace fathom::session {

// Sources and pump are at rest, and no other thread runs. The keeper goes on with them until the
// last process has ended or a signal tells it to end, and then completes the recording: the caller
// must not touch it any more. An error: there is no keeper, and nothing has changed.
Status leave_keeper(const sources::SourceContext& context, SignalQueue& signals, HostSources& hosts,
                    Pump& pump);

}  // namespace fathom::session
