// SPDX-License-Identifier: MIT
// What events are called: a layer and a name each, numbered. A recording may hold any number of
// names, of any length: they are bounded here, and what does not fit is counted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fathom::analysis {

// One thread at a time. References that kind() and text() give hold until the next find().
class Kinds {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 20U;
  static constexpr std::size_t kLongestName = 1000;  // bytes

  struct Kind {
    std::uint32_t layer = 0;  // numbers of texts
    std::uint32_t name = 0;
  };

  std::uint32_t find(std::string_view layer, std::string_view name);
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(kinds_.size()); }
  [[nodiscard]] const Kind& kind(std::uint32_t number) const { return kinds_[number]; }
  [[nodiscard]] const std::string& text(std::uint32_t number) const { return texts_[number]; }
  [[nodiscard]] std::int64_t unnamed() const { return unnamed_; }  // kinds that found no room

 private:
  std::uint32_t text_number(std::string_view text);

  std::vector<Kind> kinds_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::uint32_t> text_numbers_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  // layer and name
  std::int64_t unnamed_ = 0;
};

}  // namespace fathom::analysis
