// SPDX-License-Identifier: MIT
// How calls move through a file: each is compared with the one before it by the same descriptor.
// Additive, but for the extent, which begins anew where sums do.
#pragma once

#include <algorithm>
#include <cstdint>

#include "trace/rows/file_places.h"

namespace fathom::trace {

// Counts of one row of the summary. A value; the place of the descriptor is the caller's.
struct AccessPattern {
  static constexpr std::int64_t kPage = 4096;

  std::int64_t positioned = 0;   // calls whose offset is known and that moved something
  std::int64_t consecutive = 0;  // go on where the one before ended, or begin a file
  std::int64_t forward = 0;      // begin farther on
  std::int64_t strided = 0;      // as far from the one before as that was from its own
  std::int64_t misaligned = 0;   // begin inside a page
  std::int64_t extent = 0;       // the end of the farthest

  // `place` is where the descriptor of the call stood, and then where it stands. `elsewhere`:
  // somebody else may have moved its position (a forked child, a stream). A call that does not go
  // on then is no jump of this process, and nobody knows whether it was one of the other: it is not
  // counted.
  void add(FilePlace& place, std::int64_t offset, std::int64_t bytes, bool elsewhere = false) {
    const bool next = goes_on(place, offset);
    const std::int64_t before = place.is_new ? stop_ : place.stop;
    const std::int64_t gap = next ? 0 : offset - before;
    if (next || !elsewhere) count(place, offset, gap);
    // Offsets and bytes of a damaged record may be anything that is not negative.
    if (__builtin_add_overflow(offset, bytes, &stop_)) stop_ = INT64_MAX;
    extent = std::max(extent, stop_);
    place = {.stop = stop_,
             .gap = elsewhere ? 0 : gap,
             .farthest = std::max(place.farthest, stop_),
             .is_new = false};
  }

  // A mapping: its bytes move without a call, and nothing tells in which order.
  void reach(std::int64_t offset, std::int64_t size) {
    std::int64_t end = 0;
    if (__builtin_add_overflow(std::max<std::int64_t>(offset, 0), std::max<std::int64_t>(size, 0),
                               &end))
      end = INT64_MAX;
    extent = std::max(extent, end);
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
  void count(const FilePlace& place, std::int64_t offset, std::int64_t gap) {
    consecutive += gap == 0 ? 1 : 0;
    forward += gap > 0 ? 1 : 0;
    strided += gap != 0 && gap == place.gap ? 1 : 0;
    misaligned += offset % kPage != 0 ? 1 : 0;
    positioned++;
  }

  // A file that was opened is read from its begin, or from where it was left. So is one that is
  // wound back from its end, whatever functions went there. Descriptors that share a position (dup)
  // go on where the other stopped.
  [[nodiscard]] bool goes_on(const FilePlace& place, std::int64_t offset) const {
    if (offset == stop_ || positioned == 0) return true;
    if (place.is_new) return offset == 0;
    return offset == place.stop || (offset == 0 && place.stop == place.farthest);
  }

  std::int64_t stop_ = 0;  // of the last call, by whatever descriptor
};

}  // namespace fathom::trace
