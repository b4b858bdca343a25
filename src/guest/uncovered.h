// SPDX-License-Identifier: MIT
// A process that the library entered and leaves alone says so in the spool: nobody else knows,
// where its exec went past the hooks.
#pragma once

namespace fathom::guest {

// `flags` say why, as those of EXEC do (wire/exec.h). guest.out is the spool. System calls alone.
void note_uncovered(unsigned flags);

}  // namespace fathom::guest
