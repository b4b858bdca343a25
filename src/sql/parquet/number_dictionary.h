// SPDX-License-Identifier: MIT
// The distinct numbers of a column, and which of them each row has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fathom::sql::parquet {

// Whether a dictionary is worth going on with when `rows` values had `distinct` different ones.
inline bool dictionary_pays(std::size_t distinct, std::size_t rows) {
  constexpr std::size_t kTooEarlyToTell = 1024;
  constexpr std::size_t kMost = 16384;
  return distinct <= kMost && distinct <= kTooEarlyToTell + rows / 4;
}

// Built once, for one column of one row group. A search ends: a dictionary that pays has half as
// many members as there are slots.
template <class T>
class NumberDictionary {
 public:
  NumberDictionary() : slots_(kSlots) {}

  // False where a dictionary would not pay; nothing else may be asked then.
  bool build(std::span<const T> values) {
    codes_.resize(values.size());
    T last{};
    std::uint32_t last_code = kFree;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const T value = values[i];
      if (value != last || last_code == kFree) {
        last = value;
        last_code = code_of(value);
        if (!dictionary_pays(members_.size(), i)) return false;
      }
      codes_[i] = last_code;
    }
    return true;
  }

  [[nodiscard]] const std::vector<T>& members() const { return members_; }
  [[nodiscard]] std::span<const std::uint32_t> codes() const { return codes_; }

 private:
  static constexpr unsigned kSlotBits = 15;  // twice as many as a dictionary that pays has members
  static constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;
  static constexpr std::uint32_t kFree = 0xffffffff;

  struct Slot {
    T value{};
    std::uint32_t code = kFree;
  };

  std::uint32_t code_of(T value) {
    constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio
    std::size_t at = (static_cast<std::uint64_t>(value) * kSpread) >> (64 - kSlotBits);
    while (slots_[at].code != kFree && slots_[at].value != value) at = (at + 1) % kSlots;
    Slot& slot = slots_[at];
    if (slot.code == kFree) {
      slot = {value, static_cast<std::uint32_t>(members_.size())};
      members_.push_back(value);
    }
    return slot.code;
  }

  std::vector<Slot> slots_;
  std::vector<T> members_;
  std::vector<std::uint32_t> codes_;
};

}  // namespace fathom::sql::parquet
