// SPDX-License-Identifier: MIT
// Directories that nobody but this user and root can enter or exchange, at places that each process
// of this user knows (wire/drop_in.h).
#pragma once

#include <string>
#include <vector>

namespace fathom::session {

// Those that are there, whichever of them the in-process half found (guest/private_place.cc).
[[nodiscard]] std::vector<std::string> private_places();

// The first that is there, or one that is made; "" where none can be.
[[nodiscard]] std::string make_private_place();

}  // namespace fathom::session
