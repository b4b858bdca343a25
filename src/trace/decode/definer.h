// SPDX-License-Identifier: MIT
// The first pass over a chunk: what names mean, what processes told about themselves, and where the
// runs of threads lie. Included by .cc files of this room only.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "trace/decode/decoder.h"
#include "trace/decode/record_walker.h"

namespace fathom::trace {

// What one thread wrote behind one SWITCH.
struct Run {
  RunHead head;
  const Schema* schema = nullptr;
  std::span<const std::uint8_t> bytes;  // the SWITCH included
};

// Takes the definitions. Appends the runs, where wanted; false where the chunk is damaged (the runs
// end before that).
bool define_chunk(const Chunk& chunk, Definitions& definitions, std::vector<Run>* runs);

// The definition records and notes of a chunk as a chunk of its own, which needs no schema: what
// definitions.log keeps. Each note gets a SWITCH of its own, since the records that its time was
// relative to are gone. `events`: how many other records are events.
std::string extract_definitions(const Chunk& chunk, std::uint64_t& events);

// The SWITCH that a chunk begins with; all zero where there is none.
RunHead first_switch(const Chunk& chunk);

// The last SWITCH of a chunk; false where there is none.
bool last_switch(const Chunk& chunk, RunHead& head);

// Chunks are drained in this order of their first SWITCH, thread by thread.
inline auto drain_order(const RunHead& head) {
  return std::tie(head.key, head.thread, head.cursor, head.run);
}

}  // namespace fathom::trace
