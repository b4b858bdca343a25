// SPDX-License-Identifier: MIT
#include "fleet/profile_sums.h"

#include <limits>
#include <string_view>
#include <utility>

namespace fathom::fleet {

bool ProfileSums::add(const ProfileRow& row) {
  using Names = std::tuple<std::string_view, std::string_view, std::string_view>;
  const auto found = sums_.find(Names(row.node, row.exec, row.event));
  if (found == sums_.end()) {
    sums_.emplace(Key(row.node, row.exec, row.event), row.count);
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
