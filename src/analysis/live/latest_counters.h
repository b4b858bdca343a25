// SPDX-License-Identifier: MIT
// The last value of each counter of a recording that is being made. Programs choose the names of
// theirs: only so many are kept, and what is left out is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace fathom::analysis {

// One thread at a time.
class LatestCounters {
 public:
  static constexpr std::size_t kMostNames = 1000;
  static constexpr std::size_t kLongestName = 200;  // bytes

  struct Value {
    std::string unit = {};
    std::int64_t ts = 0;
    double value = 0;
  };

  // `values` were told until then, in any order; this is the last one of them.
  void add(std::string_view name, const Value& last, std::uint64_t values = 1);

  [[nodiscard]] const std::map<std::string, Value, std::less<>>& values() const { return values_; }
  // Values of names that there was no room for.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  std::map<std::string, Value, std::less<>> values_;  // by name
  std::uint64_t left_out_ = 0;
};

}  // namespace fathom::analysis
