// SPDX-License-Identifier: MIT
// Gives frames their functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "trace/rows/name_resolver.h"
#include "trace/rows/samples.h"

namespace fathom::trace {

// Puts one frame or several, where functions were inlined, in the place of each that only says
// where it lies in its module. What has no name is called `module+0xoffset`. Returns how many
// places lie in files that cannot be read, or are others by now.
std::size_t name_frames(const NameResolver& resolver, FrameBatch& frames, Strings& strings);
// What a place without a name is called.
std::string name_of_place(std::string_view module, std::int64_t offset);
// Takes the name of a frame that is called `module+0xoffset` away again; false for others.
bool take_back_name(Frame& frame, Strings& strings);

}  // namespace fathom::trace
