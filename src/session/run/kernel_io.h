// SPDX-License-Identifier: MIT
// What the kernel counted of a program that has ended and was not reaped. A program that is killed
// cannot tell it itself (guest/unseen.h).
#pragma once

#include <sys/types.h>

#include <string>

namespace fathom::session {

// Bytes read and written, as META kernel:io has them (wire/exec.h); "" where nobody tells. `spool`:
// of the recording, into which the library wrote as well.
[[nodiscard]] std::string kernel_io_of(pid_t program, const std::string& spool);

}  // namespace fathom::session
