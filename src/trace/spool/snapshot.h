// SPDX-License-Identifier: MIT
// Everything of a spool at one moment: chunks of logs that no Parquet file replaced, and of
// segments. Logs, and segments that nobody writes, are read one at a time, when they are visited;
// the spool must stay. Nothing is written and nothing is locked.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "trace/decode/record_walker.h"
#include "trace/rows/lives.h"
#include "trace/spool/damaged_file.h"
#include "trace/spool/journal.h"
#include "trace/spool/pool_file.h"
#include "trace/spool/spool.h"

namespace fathom::trace {

// One thread at a time, and only as long as the Spool that made it. Files that are damaged are
// listed, not failures.
class Snapshot {
 public:
  // What a packer would pack into one file. Refers to memory that goes when the visit ends.
  struct Batch {
    std::vector<Chunk> chunks;
    std::vector<std::span<const std::uint8_t>> rows;  // entries of EntryKind::kRows
  };

  // All definitions that rows may refer to: of what was drained, and of segments.
  void visit_definitions(const std::function<void(const Chunk&)>& visit);
  // All rows, in the order in which a packer takes them. Once.
  void visit_rows(const std::function<void(const Batch&)>& visit);

  // Complete when both visits are over:
  [[nodiscard]] std::vector<Loss> losses() const;  // of all pools
  // What is missing of all that was written. `packed` are the logs that are in Parquet.
  [[nodiscard]] std::vector<Loss> gaps(const std::vector<std::uint64_t>& packed,
                                       const Definitions& definitions) const;
  [[nodiscard]] const std::vector<DamagedFile>& damaged() const { return damaged_; }
  // Somebody packed or drained what was still to be visited: it has to be taken again.
  [[nodiscard]] bool changed() const { return changed_; }

  std::vector<CallInFlight> in_flight;
  Lives seen;  // by sources beside the programs; after the first visit
  bool owners_alive = false;
  bool owners_unknown = false;  // they cannot be seen from here, and nothing was heard of them

 private:
  friend class SnapshotReader;
  struct Piece {
    ChunkName name;
    const Schema* schema = nullptr;
    RunHead head;                // of the first run
    std::size_t rows_bytes = 0;  // rows up to here; definitions from all of it
    std::size_t all_bytes = 0;
    std::size_t pool = 0;
    bool copied = false;
    std::vector<std::uint8_t> copy;
  };
  struct Log {
    std::uint64_t n = 0;
    std::uint64_t bytes = 0;  // when it was measured
  };
  static constexpr std::size_t kMostDamaged = 100;  // that are named
  explicit Snapshot(Spool& spool) : spool_(&spool) {}
  void damage(const std::string& name, const std::string& reason);
  std::span<const std::uint8_t> load(const Piece& piece, std::vector<std::uint8_t>& memory);
  void visit_log(const Log& log, const std::function<void(const Batch&)>& visit);
  [[nodiscard]] bool is_damaged(const LogScan& scan, std::uint64_t size) const;
  void take_entry(const LogEntry& entry, bool known, Batch& batch);
  [[nodiscard]] std::vector<const Piece*> pieces_in_order() const;
  void visit_segments(const std::function<void(const Batch&)>& visit);

  Spool* spool_;
  PoolLosses losses_;
  Journal journal_;
  std::int64_t denied_ = 0;   // pools that may not be opened
  std::int64_t refused_ = 0;  // pools that could not be made
  bool changed_ = false;
  bool torn_is_damage_ = false;  // nobody writes who could be in the middle of it
  std::vector<DamagedFile> damaged_;
  std::vector<Log> logs_;
  std::vector<PoolFile> pools_;
  std::vector<Piece> pieces_;
  std::map<ChunkName, std::uint64_t> limits_;  // of all segments, also those drained since
  std::set<ChunkName> logged_;
};

}  // namespace fathom::trace
