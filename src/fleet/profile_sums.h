// SPDX-License-Identifier: MIT
// Rows of a profile, added up before they travel: equal ones become one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "fleet/model.h"

namespace fathom::fleet {

// One thread at a time.
class ProfileSums {
 public:
  // False, and nothing is added: the sum would be beyond 2^63-1.
  [[nodiscard]] bool add(const ProfileRow& row);

  [[nodiscard]] bool empty() const { return sums_.empty(); }
  [[nodiscard]] std::size_t rows() const { return sums_.size(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }  // of all names

  // All rows, in order of node, exec, event. There are none left.
  [[nodiscard]] std::vector<ProfileRow> take();

 private:
  using Key = std::tuple<std::string, std::string, std::string>;
  std::map<Key, std::int64_t> sums_;
  std::size_t bytes_ = 0;
};

}  // namespace fathom::fleet
