// SPDX-License-Identifier: MIT
// Ranges of addresses of which a later one replaces what it covers of those before: mappings of a
// process, entries of a perf map.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace fathom::symbols {

// Owns copies of the values. Entries point into it, and hold until it is changed. A value whose
// range is cut in two is copied.
template <class Value>
class OverlayMap {
 public:
  struct Entry {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    const Value* value = nullptr;
  };

  void put(std::uint64_t begin, std::uint64_t end, Value value) {
    if (begin >= end) return;
    remove(begin, end);
    parts_.emplace(begin, Part{end, std::move(value)});
  }

  void remove(std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return;
    split(begin);
    split(end);
    parts_.erase(parts_.lower_bound(begin), parts_.lower_bound(end));
  }

  // Of an entry that was covered in part, begin and end are those of what is left there.
  [[nodiscard]] std::optional<Entry> find(std::uint64_t address) const {
    auto part = parts_.upper_bound(address);
    if (part == parts_.begin()) return std::nullopt;
    --part;
    if (address >= part->second.end) return std::nullopt;
    return Entry{part->first, part->second.end, &part->second.value};
  }
  // The first that ends behind the address: it may begin there or later.
  [[nodiscard]] std::optional<Entry> next(std::uint64_t address) const {
    if (auto here = find(address)) return here;
    const auto part = parts_.lower_bound(address);
    if (part == parts_.end()) return std::nullopt;
    return Entry{part->first, part->second.end, &part->second.value};
  }
  [[nodiscard]] std::size_t size() const { return parts_.size(); }

 private:
  struct Part {
    std::uint64_t end = 0;
    Value value;
  };

  void split(std::uint64_t at) {
    auto part = parts_.lower_bound(at);
    if (part == parts_.begin()) return;
    --part;
    if (part->second.end <= at) return;
    parts_.emplace_hint(std::next(part), at, part->second);
    part->second.end = at;
  }

  std::map<std::uint64_t, Part> parts_;
};

}  // namespace fathom::symbols
