// SPDX-License-Identifier: MIT
// How long each round of a region took, in the order in which its thread went through them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/store.h"
#include "base/result.h"

namespace fathom::analysis {

// One thread at a time. Memory grows with the number of rounds.
class Rounds {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  void expect(const std::string& name);
  [[nodiscard]] std::uint32_t find(const std::optional<std::string>& name) const;
  void add(std::uint32_t series, std::uint32_t thread, std::int64_t dur);

  // phase, calls, threads, total, median, p95, first (mean of the first of each thread), rest
  // (median of the others), trend (how much longer each is than the one before, in percent of the
  // mean). Regions that no thread went through twice are left out.
  Status into(Store& store);

 private:
  struct Series {
    std::optional<std::string> name;
    std::unordered_map<std::uint32_t, std::int64_t> rounds = {};  // by thread
    std::vector<std::int64_t> first = {}, rest = {};
    // Of number and duration, one after the other.
    double mean_n = 0, mean_dur = 0, spread_n = 0, spread_both = 0;
  };

  std::map<std::string, std::uint32_t> codes_;
  std::vector<Series> series_;
};

}  // namespace fathom::analysis
