// SPDX-License-Identifier: MIT
// The frames of an interpreter, for those who load its extension.
#pragma once

#include "sources/python/frames.h"

namespace fathom::guest::python {

// Reads the settings; what the extension calls.
const fathom_frames* prepare_frames();

}  // namespace fathom::guest::python
