// SPDX-License-Identifier: MIT
// How calls move through a file: each is compared with the one before it. Additive, but for the
// first call after two were added, whose predecessor is not known.
#pragma once

#include <algorithm>
#include <cstdint>

namespace fathom::trace {

struct AccessPattern {
  static constexpr std::int64_t kPage = 4096;

  std::int64_t positioned = 0;   // calls whose offset is known and that moved something
  std::int64_t consecutive = 0;  // begin where the one before ended; the first counts here too
  std::int64_t forward = 0;      // begin farther on
  std::int64_t strided = 0;      // as far from the one before as that was from its own
  std::int64_t misaligned = 0;   // begin inside a page
  std::int64_t extent = 0;       // the end of the farthest

  void add(std::int64_t offset, std::int64_t bytes) {
    const std::int64_t gap = offset - stop_;
    const bool first = positioned == 0;
    consecutive += first || gap == 0 ? 1 : 0;
    forward += !first && gap > 0 ? 1 : 0;
    strided += !first && gap != 0 && gap == gap_ ? 1 : 0;
    misaligned += offset % kPage != 0 ? 1 : 0;
    positioned++;
    gap_ = gap;
    // Offsets and bytes of a damaged record may be anything that is not negative.
    if (__builtin_add_overflow(offset, bytes, &stop_)) stop_ = INT64_MAX;
    extent = std::max(extent, stop_);
  }

  void merge(const AccessPattern& other) {
    positioned += other.positioned;
    consecutive += other.consecutive;
    forward += other.forward;
    strided += other.strided;
    misaligned += other.misaligned;
    extent = std::max(extent, other.extent);
  }

 private:
  std::int64_t stop_ = 0;
  std::int64_t gap_ = 0;
};

}  // namespace fathom::trace
