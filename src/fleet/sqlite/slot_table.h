// SPDX-License-Identifier: MIT
// Where a counter lies, by the hash of its names: 24 bytes a place, at most 3/4 of them taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fleet/sqlite/keyed_hash.h"

namespace fathom::fleet {

// One thread at a time. Nothing is ever removed but with the whole table.
class SlotTable {
 public:
  [[nodiscard]] std::optional<std::uint32_t> find(const Hash128& key) const {
    if (places_.empty()) return std::nullopt;
    const Place& place = places_[index_of(places_, key)];
    if (place.slot == kFree) return std::nullopt;
    return place.slot;
  }

  // `key` must be new, `slot` below 2^32 - 1.
  void insert(const Hash128& key, std::uint32_t slot) {
    if (4 * (taken_ + 1) > 3 * places_.size()) grow();
    places_[index_of(places_, key)] = {key, slot};
    ++taken_;
  }

  [[nodiscard]] std::size_t size() const { return taken_; }

 private:
  static constexpr std::uint32_t kFree = UINT32_MAX;
  struct Place {
    Hash128 key;
    std::uint32_t slot = kFree;
  };

  // Of the key, or of the free place where it belongs. The size is a power of two.
  static std::size_t index_of(const std::vector<Place>& places, const Hash128& key) {
    const std::size_t mask = places.size() - 1;
    std::size_t at = static_cast<std::size_t>(key.low) & mask;
    while (places[at].slot != kFree && !(places[at].key == key)) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    constexpr std::size_t kFirst = 16;
    std::vector<Place> larger(places_.empty() ? kFirst : 2 * places_.size());
    for (const Place& place : places_)
      if (place.slot != kFree) larger[index_of(larger, place.key)] = place;
    places_ = std::move(larger);
  }

  std::vector<Place> places_;
  std::size_t taken_ = 0;
};

}  // namespace fathom::fleet
