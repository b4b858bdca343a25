// SPDX-License-Identifier: MIT
// Records SUMS into rows of intervals. A thread begins a new record whenever it leaves a segment:
// those of one interval become one row here. Included by .cc files of this room only.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "trace/decode/record_walker.h"
#include "trace/rows/batch.h"
#include "trace/rows/clock.h"

namespace fathom::trace {

// The fields of a SUMS. False where the bytes end before it, or it has no interval.
bool read_sums(ByteReader& fields, std::uint16_t& kind, fathom_sums& sums);

// What of it does not depend on its thread and kind. `calls` is 0 where nothing was added yet.
IntervalRow row_of(const fathom_sums& sums, const Clock& clock);

// Owned by one decoder. Rows wait here, by what makes their key, until take().
class SummedCalls {
 public:
  void add(const IntervalRow& row);
  IntervalBatch take();

 private:
  using Key = std::tuple<std::uint64_t, std::int32_t, std::uint32_t, std::uint32_t, std::int64_t>;
  std::map<Key, IntervalRow> rows_;  // by process, thread, layer, name, interval
};

}  // namespace fathom::trace
