// SPDX-License-Identifier: MIT
// Starts `fathom collect` for the run of this process, as nobody's child: neither its end nor ours
// is felt by the other, and the program's wait() never meets it.
#pragma once

namespace fathom::guest {

// Whether there is a `fathom` that is to be trusted as much as this library.
bool find_program();

// Starts the one that was found. It inherits the lock.
void launch_program(int lock_fd);

}  // namespace fathom::guest
