// SPDX-License-Identifier: MIT
// Records of chunks into rows. Reading never trusts a byte: a damaged chunk costs what follows the
// damage in it, and counts as a loss.
//
//   for (chunk : all known chunks)
//     decoder.define(chunk);                   // names and facts: in any order, repeatable
//   decoder.decode(chunks, events, counters);  // rows: each chunk once
//
// One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/decode/schema.h"
#include "trace/rows/batch.h"
#include "trace/rows/clock.h"
#include "trace/rows/coverage.h"
#include "trace/rows/definitions.h"
#include "trace/rows/paths.h"
#include "trace/rows/summary.h"

namespace fathom::trace {

// The valid bytes of one fill of a segment, without the segment's header. Refers to memory of
// somebody else.
struct Chunk {
  std::span<const std::uint8_t> bytes;
  const Schema* schema = nullptr;  // nullptr: unknown, only kinds of the format itself can be read
};

// A named counter of what is missing; see the glossary.
struct Loss {
  std::string layer;  // "" where it concerns all
  std::string reason;
  std::int64_t count = 0;
};

// What names are made with, and what is left out.
struct DecoderOptions {
  NameResolver resolver;  // none: `module+0xoffset`
  PathFilter paths;       // events of posix and stdio on other files are left out
  std::string directory;  // for names that are too many for memory; "": that of temporary files
  bool local = true;      // programs that are named may be looked at: they are of this machine
};

// Owns its definitions and what threads carry. Chunks need only stay for the call; their schemas
// and the strings outlive it. Nothing fails: what is damaged is a loss of take_sums().
class Decoder {
 public:
  Decoder(Strings& strings, Clock clock, DecoderOptions options = {});
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // A clock that agrees with the one before on the past.
  void set_clock(Clock clock);

  // Takes definitions, process facts and notes. Counts nothing.
  void define(const Chunk& chunk);

  // Appends the rows of all chunks, thread by thread, each thread's runs in their order. Arguments
  // of a region that is still open wait for the next call.
  void decode(std::span<const Chunk> chunks, EventBatch& events, CounterBatch& counters);
  // The same for the sums, counters and facts alone: no row of events is made, which is what costs
  // most. Leaves the arguments that wait as they are.
  void sum(std::span<const Chunk> chunks, CounterBatch& counters);

  // What threads carry from one decode() to the next (time inside open regions, arguments that
  // wait), as bytes that another decoder can go on from; "" for nothing. restore() forgets what was
  // carried before; damaged bytes carry nothing, and count as a loss.
  [[nodiscard]] std::string carry() const;
  void restore(std::string_view carried);

  [[nodiscard]] Definitions& definitions() { return definitions_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }

  // Forgets all texts: the strings are cleared, no code of before holds. For whoever decodes
  // without end, after take_sums(); what threads carry is kept.
  void renew_strings();

  // Sums over everything decoded since the last take_sums().
  struct Sums {
    SummaryTable summary;
    Timeline timeline;
    LayerCoverage coverage;
    std::map<std::string, std::int64_t> events_by_layer;
    std::vector<Loss> losses;
    IntervalBatch intervals;      // of calls that their threads added up; in the other sums, too
    void add(const Sums& other);  // whose codes are of the same strings
  };
  [[nodiscard]] Sums take_sums();

 private:
  class Rows;
  struct Thread;

  void decode_runs(std::span<const Chunk> chunks, EventBatch* events, CounterBatch& counters);
  Thread& thread(std::uint64_t process_key, std::uint32_t ordinal, std::uint32_t cursor);
  void count_loss(const std::string& reason, std::int64_t count = 1);

  Strings* strings_;
  Clock clock_;
  DecoderOptions options_;
  Definitions definitions_;
  std::unordered_map<std::uint64_t, std::vector<std::unique_ptr<Thread>>> threads_;
  std::unique_ptr<Rows> rows_;
  std::map<std::string, std::int64_t> losses_;
};

}  // namespace fathom::trace
