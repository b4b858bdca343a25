// SPDX-License-Identifier: MIT
// Paths are asked while packing and not while recording: a stat for each open would cost the
// program. Each path is asked once.
#include "trace/decode/inodes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <string>

#include "trace/decode/schema.h"

namespace fathom::trace {
namespace {

// What a network file system knows already is enough, and nothing is mounted for the question.
bool ask(const std::string& path, InodeRow& row) {
  struct statx facts {};
  constexpr int kFlags = AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
  if (::statx(AT_FDCWD, path.c_str(), kFlags, STATX_INO, &facts) != 0) return false;
  row.device = static_cast<std::int64_t>(::makedev(facts.stx_dev_major, facts.stx_dev_minor));
  row.inode = static_cast<std::int64_t>(facts.stx_ino);
  return true;
}

}  // namespace

std::vector<InodeRow> Inodes::look_at(const SummaryTable& summary, const Strings& strings) {
  std::vector<InodeRow> rows;
  std::unordered_set<std::uint32_t> asked;  // a file has a row for each call and process
  constexpr std::size_t kMost = std::size_t{1} << 16;
  if (found_.size() > kMost) found_.clear();
  for (const SummaryRow& sums : summary.rows()) {
    InodeRow row{.path = sums.key.file};
    if (row.path == kNoString || !asked.insert(row.path).second) continue;
    const std::string path(strings.view(row.path));
    const std::uint64_t hash = fnv1a(path);
    if (found_.contains(hash)) continue;
    // There everybody sees their own, and ours is not meant.
    if (!path.starts_with('/') || path.starts_with("/proc/") || !ask(path, row)) continue;
    found_.insert(hash);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace fathom::trace
