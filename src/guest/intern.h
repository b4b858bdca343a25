// SPDX-License-Identifier: MIT
#pragma once

#include "guest/runtime.h"

namespace fathom::guest {

bool prepare_names();

}  // namespace fathom::guest
