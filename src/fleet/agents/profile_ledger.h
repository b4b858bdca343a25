// SPDX-License-Identifier: MIT
// What of a growing profile a job has got already, so that the next batch holds the difference. A
// sum that was sent cannot shrink: until the end a part of every sum is held back, for what the
// last reading may correct, and all of it where the name is only a place: what the recording learns
// later may name its function.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "fleet/model.h"

namespace fathom::fleet {

// One thread at a time.
class ProfileLedger {
 public:
  // What is to be sent after this reading of all rows; each is a sum since the beginning.
  [[nodiscard]] std::vector<ProfileRow> grown(const std::vector<ProfileRow>& rows);

  struct Rest {
    std::vector<ProfileRow> rows;
    std::int64_t too_much = 0;  // rows of which more was sent than there is
  };
  // The last reading.
  [[nodiscard]] Rest rest(const std::vector<ProfileRow>& rows);

 private:
  using Key = std::tuple<std::string, std::string, std::string>;
  void raise(const ProfileRow& row, std::int64_t to, std::vector<ProfileRow>& out);

  std::map<Key, std::int64_t> sent_;
};

}  // namespace fathom::fleet
