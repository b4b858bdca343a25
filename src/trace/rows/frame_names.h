// SPDX-License-Identifier: MIT
// Gives frames their functions.
#pragma once

#include "trace/rows/name_resolver.h"
#include "trace/rows/samples.h"

namespace fathom::trace {

// Puts one frame or several, where functions were inlined, in the place of each that only says
// where it lies in its module. What has no name is called `module+0xoffset`.
void name_frames(const NameResolver& resolver, FrameBatch& frames, Strings& strings);

}  // namespace fathom::trace
