// SPDX-License-Identifier: MIT
#pragma once

#include "guest/runtime.h"

namespace fathom::guest {

const char* setting(const char* name);  // an environment variable, or nullptr
void switch_on();                       // recording begins
bool attach(unsigned how);
void arrive();
// The run has ended without this process, and its spool was removed: makes it anew, so that what
// comes now is a recording too. Whether there is a directory then.
bool remake_spool();

}  // namespace fathom::guest
