// SPDX-License-Identifier: MIT
// View `files`: path, device, inode, calls, bytes_read, bytes_written, first, last. Sums come from
// the summary; device and inode from what the recorder saw when it packed (view inodes). NULL where
// it saw nothing, or where recordings disagree.
#pragma once

#include "base/result.h"
#include "sql/connection.h"

namespace fathom::analysis {

// The views summary and inodes exist.
Status create_files_view(sql::Connection& connection);

}  // namespace fathom::analysis
