// SPDX-License-Identifier: MIT
// What lies in segments now, for somebody who looks again and again and writes nothing: no lock, no
// mapping. snapshot.h is for those who read a whole spool once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "trace/decode/decoder.h"
#include "trace/spool/chunk_log.h"
#include "trace/spool/spool.h"

namespace fathom::trace {

// One segment as it was at the look. Owns its bytes; the schema is the spool's.
struct SegmentCopy {
  ChunkName name;
  const Schema* schema = nullptr;
  std::vector<std::uint8_t> bytes;
  std::size_t rows_bytes = 0;        // rows up to here; definitions from all of it
  std::optional<CallInFlight> call;  // that its thread is in the middle of

  [[nodiscard]] Chunk definitions() const { return {bytes, schema}; }
  [[nodiscard]] Chunk rows() const { return {std::span(bytes).first(rows_bytes), schema}; }
};

// What one look found.
struct SegmentCopies {
  std::vector<SegmentCopy> segments;  // in the order in which a drainer takes them
  std::uint64_t left_out = 0;         // segments beyond what a look may copy
  std::uint64_t lost = 0;             // events that the programs had no room for, up to now
};

// Of every thread a beginning is there: no record without those before it. Read logs behind this
// call, up to their end, and leave out what is found there by its name: what was drained meanwhile
// is in both.
SegmentCopies copy_segments(Spool& spool);

}  // namespace fathom::trace
