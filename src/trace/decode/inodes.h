// SPDX-License-Identifier: MIT
// Which file a path meant: device and inode, asked of the file system when what the program did
// with the path is packed. One thread at a time.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "trace/rows/strings.h"
#include "trace/rows/summary.h"

namespace fathom::trace {

// A row of `inodes`.
struct InodeRow {
  std::uint32_t path = kNoString;
  std::int64_t device = 0;
  std::int64_t inode = 0;
};

// Asks the file system, without opening a file. What is not there any more has no row.
class Inodes {
 public:
  // Files of the summary that exist now and were not found before; a path that was missing is asked
  // for again when it comes again.
  std::vector<InodeRow> look_at(const SummaryTable& summary, const Strings& strings);

 private:
  std::unordered_set<std::uint64_t> found_;  // hashes of paths, of the last so many
};

}  // namespace fathom::trace
