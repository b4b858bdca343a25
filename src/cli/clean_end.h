// SPDX-License-Identifier: MIT
// A command that is told to end (Ctrl-C, SIGTERM, SIGHUP) removes its temporary directories, and
// ends of the signal as if it had not been looked at.
#pragma once

namespace fathom::cli {

// From now on; once. Before other threads are started: they inherit who takes the signals.
void end_cleanly_on_signals();

}  // namespace fathom::cli
