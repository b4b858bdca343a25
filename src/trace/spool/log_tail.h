// SPDX-License-Identifier: MIT
// The entries of all logs, each once, for somebody who only reads while another process drains and
// packs. A log that was begun is held open: it can be read to its end although it is packed and
// removed meanwhile. log_follower.h is for whoever has the drainer itself.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/result.h"
#include "trace/decode/decoder.h"
#include "trace/spool/chunk_log.h"
#include "trace/spool/journal.h"
#include "trace/spool/spool.h"

namespace fathom::trace {

// One thread at a time.
class LogTail {
 public:
  // The spool must outlive this.
  explicit LogTail(Spool& spool) : spool_(&spool) {}

  // What came since the last time, of one log at a time; valid during the visit.
  struct Batch {
    std::vector<Chunk> chunks;
    std::vector<ChunkName> names;                     // of the chunks
    std::vector<std::span<const std::uint8_t>> rows;  // entries of EntryKind::kRows
  };
  Status read(const std::function<void(const Batch&)>& visit);

  // Whether this log was begun, or is not wanted.
  [[nodiscard]] bool knows(std::uint64_t log) const { return known_.contains(log); }
  // Somebody else has what is in it, all of it. Not for one that was begun.
  void leave_out(std::uint64_t log) { known_.insert(log); }

 private:
  struct Open {
    std::uint64_t log;
    File file;
    OwnEntries own;
    std::uint64_t read = 0;  // bytes
  };
  Result<bool> open_next(const std::vector<std::uint64_t>& logs);
  Status read_open(const std::function<void(const Batch&)>& visit);

  Spool* spool_;
  std::optional<Open> open_;
  std::set<std::uint64_t> known_;
};

}  // namespace fathom::trace
