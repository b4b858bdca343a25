// SPDX-License-Identifier: MIT
// What went wrong, in the one line that DESIGN section 5 fixes.
#pragma once

#include "base/result.h"

namespace fathom::cli {

// "fathom: what is wrong; what to do" on stderr.
void tell(const Error& error);

}  // namespace fathom::cli
