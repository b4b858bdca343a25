// SPDX-License-Identifier: MIT
// View `files`: path, device, inode, calls, bytes_read, bytes_written, first, last. Sums come from
// the summary; device and inode from asking the file system, which costs a call for each file and
// is done when somebody looks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sql/connection.h"
#include "trace/recording.h"

namespace fathom::analysis {

// Without devices and inodes (NULL).
Status create_files_view(sql::Connection& connection);

// The same with them, for files that are there on this machine now. Recordings of other machines
// keep NULL.
Status add_inodes(sql::Connection& connection, const std::vector<trace::Part>& parts);

// Whether a query may be about files: it mentions the word.
bool mentions_files(std::string_view sql);

}  // namespace fathom::analysis
