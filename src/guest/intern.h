// SPDX-License-Identifier: MIT
#pragma once

#include "guest/runtime.h"

namespace fathom::guest {

bool prepare_names();
void forget_functions();  // a library was unloaded

}  // namespace fathom::guest
