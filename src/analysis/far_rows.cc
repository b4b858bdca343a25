// SPDX-License-Identifier: MIT
// By directory, so that nobody between a user's word and a store has to know of it.
#include "analysis/far_rows.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace fathom::analysis {
namespace {

struct Known {
  std::mutex mutex;
  std::vector<std::pair<std::string, std::weak_ptr<FarRows>>> far;  // by directory
};

Known& known() {
  static Known all;
  return all;
}

bool is_within(const std::string& path, const std::string& directory) {
  return path == directory || path.starts_with(directory + "/");
}

}  // namespace

void add_far_rows(const std::string& directory, const std::shared_ptr<FarRows>& far) {
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.far, [](const auto& entry) { return entry.second.expired(); });
  all.far.emplace_back(directory, far);
}

std::shared_ptr<FarRows> far_rows_of(const std::string& directory) {
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  for (const auto& [path, far] : all.far) {
    if (is_within(directory, path)) return far.lock();
  }
  return nullptr;
}

}  // namespace fathom::analysis
