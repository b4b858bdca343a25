// SPDX-License-Identifier: MIT
// SQL view `moved`: the events that moved bytes (category read, write or copy), each byte once.
// What the C library moves may show again in the system's calls inside it, not always: calls of
// stdio count where those of posix show no byte of the same file in the same process and direction.
#pragma once

#include "base/result.h"
#include "sql/connection.h"

namespace fathom::analysis {

// The views events and summary exist.
Status create_moved_view(sql::Connection& connection);

}  // namespace fathom::analysis
