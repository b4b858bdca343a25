// SPDX-License-Identifier: MIT
// The tail of a recording: a snapshot of the spool decoded in memory. Included by .cc files of this
// room only.
#pragma once

#include <map>
#include <memory>

#include "trace/recording/recording.h"
#include "trace/spool/spool.h"

namespace fathom::trace {

// Rows of a table that stay in memory; more go to temporary files, which have no name.
inline constexpr std::size_t kMostRowsInMemory = 2'000'000;

// What reading the tail found out, beside its rows.
struct TailFacts {
  std::map<std::string, std::int64_t> events_by_layer;
  std::vector<Loss> losses;
  std::vector<NotCovered> not_covered;
  std::vector<Loss> gaps;                      // what is missing; among the losses, too
  std::map<std::string, std::string> refused;  // settings that meant nothing, and what was done
  std::vector<LayerState> layers;  // those of the manifest, with what processes told of them
  std::vector<DamagedFile> damaged;
  // Rows that were too many to stay in memory, as Parquet files; by table.
  std::map<std::string, std::vector<DataFile>> packed;
  std::int64_t last_ns = 0;  // of all that was recorded
  bool owners_alive = false;
  bool owners_unknown = false;  // they cannot be seen from here, and nothing was heard of them
  bool changed = false;         // somebody packed meanwhile: to be read again
};

// What is to be decoded of it, and what is known already.
struct TailOptions {
  DecoderOptions decoder;
  Need need = Need::kEvents;
  std::vector<std::uint64_t> replaced_logs;  // that Parquet files hold
  std::vector<std::uint64_t> packed_logs;    // all that Parquet files hold
  std::optional<std::uint64_t> last_packed;  // what its log carried on is to be gone on from
  bool undisturbed = false;                  // nobody drains
  std::size_t most_rows = kMostRowsInMemory;
};

Result<std::unique_ptr<Tail>> read_tail(Spool& spool, const Manifest& manifest,
                                        const TailOptions& options, TailFacts& facts);

}  // namespace fathom::trace
