// SPDX-License-Identifier: MIT
#pragma once

#include "guest/runtime.h"

namespace fathom::guest {

const char* setting(const char* name);  // an environment variable, or nullptr
void switch_on();                       // recording begins
bool attach(unsigned how);
void arrive();

}  // namespace fathom::guest
