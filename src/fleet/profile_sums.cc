// SPDX-License-Identifier: MIT
// Adds rows up in a map and counts the bytes of their names, so that a sender knows when a batch is
// full. A sum that would overflow is refused, and the caller decides.
#include "fleet/profile_sums.h"

#include <limits>
#include <utility>

namespace fathom::fleet {

bool ProfileSums::add(const ProfileRow& row) {
  const auto [found, is_new] = sums_.try_emplace(Key(row.node, row.exec, row.event), row.count);
  if (is_new) {
    bytes_ += row.node.size() + row.exec.size() + row.event.size();
    return true;
  }
  if (row.count > std::numeric_limits<std::int64_t>::max() - found->second) return false;
  found->second += row.count;
  return true;
}

std::vector<ProfileRow> ProfileSums::take() {
  std::vector<ProfileRow> rows;
  rows.reserve(sums_.size());
  for (const auto& [key, count] : sums_) {
    const auto& [node, exec, event] = key;
    rows.push_back({node, exec, event, count});
  }
  sums_.clear();
  bytes_ = 0;
  return rows;
}

}  // namespace fathom::fleet
