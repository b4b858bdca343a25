// SPDX-License-Identifier: MIT
// Records of several rings in order of their times. A thread leaves one CPU and comes to another,
// and the two records lie in two rings: read ring by ring, they would come in any order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace fathom::sources {

// One thread. Owns the bytes; what it hands on is valid during the call.
class RecordQueue {
 public:
  // The bytes are copied.
  void add(std::uint64_t time, std::span<const std::byte> record) {
    waiting_.push_back({time, bytes_.size(), record.size()});
    // Records are read as words later, so each begins at a whole one.
    bytes_.resize(bytes_.size() + (record.size() + kWord - 1) / kWord * kWord);
    std::memcpy(bytes_.data() + waiting_.back().at, record.data(), record.size());
  }

  // Hands on those of before `until`, in order; equal times as they came.
  template <class Use>
  void release(std::uint64_t until, Use use) {
    std::ranges::stable_sort(waiting_, {}, &Waiting::time);
    const auto end = std::ranges::lower_bound(waiting_, until, {}, &Waiting::time);
    for (auto at = waiting_.begin(); at != end; ++at) use(bytes_of(*at));
    keep(std::span(end, waiting_.end()));
  }

  [[nodiscard]] std::size_t bytes() const { return bytes_.size(); }

 private:
  static constexpr std::size_t kWord = 8;
  struct Waiting {
    std::uint64_t time;
    std::size_t at;
    std::size_t size;
  };

  [[nodiscard]] std::span<const std::byte> bytes_of(const Waiting& one) const {
    return std::span(bytes_).subspan(one.at, one.size);
  }
  void keep(std::span<const Waiting> rest) {
    RecordQueue next;
    for (const Waiting& one : rest) next.add(one.time, bytes_of(one));
    waiting_.swap(next.waiting_);
    bytes_.swap(next.bytes_);
  }

  std::vector<Waiting> waiting_;
  std::vector<std::byte> bytes_;
};

}  // namespace fathom::sources
