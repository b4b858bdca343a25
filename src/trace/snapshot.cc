// SPDX-License-Identifier: MIT
// Reading a spool while guests write and a recorder drains, without stopping either. Lengths are
// read first, of logs and of all segments; then bytes. A row lies below the first reading, so
// whatever it refers to was written before and is found in the second. A segment that is drained in
// between is found in the log by its name.
#include <algorithm>
#include <map>
#include <set>

#include "trace/definer.h"
#include "trace/liveness.h"
#include "trace/spool.h"

namespace fathom::trace {
namespace {

class SnapshotTaker {
 public:
  SnapshotTaker(Spool& spool, const Clock& clock)
      : spool_(spool), liveness_(spool.header(), clock) {}

  Result<Snapshot> take(const std::vector<std::uint64_t>& replaced) {
    measure_logs(replaced);
    FATHOM_TRY(measure_pools());
    copy_segments();
    read_logs();
    read_definitions();
    for (auto& [name, piece] : copied_) {
      if (!logged_.contains(name)) snapshot_.pieces.push_back(std::move(piece));
    }
    for (const Loss& loss : losses_.losses()) snapshot_.losses.push_back(loss);
    if (damage_ > 0) snapshot_.losses.push_back({"", "damaged file in the spool", damage_});
    return std::move(snapshot_);
  }

 private:
  struct Measured {
    std::size_t pool;
    std::uint32_t index;
    ChunkName name;
    std::uint64_t progress;
  };

  void measure_logs(const std::vector<std::uint64_t>& replaced) {
    for (const std::uint64_t n : spool_.logs()) {
      if (std::find(replaced.begin(), replaced.end(), n) != replaced.end()) continue;
      const Result<File> file = File::open(spool_.log_path(n), 0);
      const Result<std::uint64_t> size =
          file ? file->size() : Result<std::uint64_t>(std::uint64_t{0});
      logs_.emplace_back(n, size ? *size : 0);
    }
  }

  Status measure_pools() {
    FATHOM_ASSIGN(const std::vector<std::string> paths, spool_.pool_paths());
    for (const std::string& path : paths) {
      Result<Pool> pool = Pool::open(path, false);
      if (pool) {
        losses_.add(pool->header());
        pools_.push_back(std::move(pool).value());
      } else if (pool.error().code == Code::kCorrupt || pool.error().code == Code::kUnsupported) {
        damage_++;
      }
    }
    for (std::size_t at = 0; at < pools_.size(); at++) measure_pool(at);
    return {};
  }

  void measure_pool(std::size_t at) {
    const Pool& pool = pools_[at];
    for (std::uint32_t index = 0; index < pool.count(); index++) {
      const fathom_segment& segment = pool.segment(index);
      if (__atomic_load_n(&segment.state, __ATOMIC_ACQUIRE) == FATHOM_SEGMENT_FREE) continue;
      const std::uint32_t generation = __atomic_load_n(&segment.generation, __ATOMIC_ACQUIRE);
      const std::uint64_t progress = __atomic_load_n(&segment.progress, __ATOMIC_ACQUIRE);
      const Measured measured{at, index, {pool.name_hash(), index, generation}, progress};
      measured_.push_back(measured);
      limits_[measured.name] = pool.records(index, progress).size();
    }
  }

  void copy_segments() {
    for (const Measured& measured : measured_) {
      const Pool& pool = pools_[measured.pool];
      const fathom_segment& segment = pool.segment(measured.index);
      const std::uint64_t later = __atomic_load_n(&segment.progress, __ATOMIC_ACQUIRE);
      const auto bytes = pool.records(measured.index,
                                      std::max(later & UINT32_MAX, measured.progress & UINT32_MAX));
      Snapshot::Piece piece{measured.name,
                            pool.header().schema_hash,
                            limits_[measured.name],
                            {bytes.begin(), bytes.end()}};
      __atomic_thread_fence(__ATOMIC_ACQUIRE);
      // Recycled in between: the log has it.
      if (__atomic_load_n(&segment.generation, __ATOMIC_RELAXED) != measured.name.generation)
        continue;
      look_at_owner(pool, measured, piece);
      copied_.emplace(measured.name, std::move(piece));
    }
  }

  void look_at_owner(const Pool& pool, const Measured& measured, const Snapshot::Piece& piece) {
    const fathom_segment& segment = pool.segment(measured.index);
    if (__atomic_load_n(&segment.state, __ATOMIC_ACQUIRE) == FATHOM_SEGMENT_FULL) return;
    const std::uint32_t pid = __atomic_load_n(&segment.owner_pid, __ATOMIC_RELAXED);
    const std::uint64_t key = __atomic_load_n(&segment.owner_key, __ATOMIC_RELAXED);
    RunHead head;
    const bool known = last_switch({piece.bytes, spool_.schema(piece.schema)}, head);
    const bool alive =
        pid != 0 && liveness_.alive(pid, key, known && head.key == key ? head.tick : 0);
    snapshot_.owners_alive |= alive;
    const auto kind = static_cast<std::uint32_t>(measured.progress >> 32);
    if (kind == 0) return;
    snapshot_.in_flight.push_back({pid, __atomic_load_n(&segment.owner_tid, __ATOMIC_RELAXED), key,
                                   kind, __atomic_load_n(&segment.in_call_since, __ATOMIC_RELAXED),
                                   piece.schema, alive});
  }

  void read_logs() {
    for (const auto& [n, size] : logs_) {
      const Result<std::string> content = read_file(spool_.log_path(n));
      if (!content) {
        damage_++;
        continue;
      }
      const LogScan scan =
          scan_log({reinterpret_cast<const std::uint8_t*>(content->data()), content->size()},
                   [&, known = size](const LogEntry& entry, std::uint64_t offset) {
                     take_entry(entry, offset < known);
                   });
      // A torn end is a write that is going on, or was when the recorder died; the segment still
      // holds it then.
      if (scan.sound_bytes + scan.damaged_bytes < content->size() ||
          damaged_inside(scan, content->size()))
        damage_++;
    }
  }

  static bool damaged_inside(const LogScan& scan, std::uint64_t size) {
    return scan.damaged_bytes > size - scan.sound_bytes;
  }

  void take_entry(const LogEntry& entry, bool known) {
    if (entry.kind == EntryKind::kCounters && known) {
      snapshot_.counters.emplace_back(entry.bytes.begin(), entry.bytes.end());
    }
    if (entry.kind != EntryKind::kChunk || !logged_.insert(entry.name).second) return;
    const auto limit = limits_.find(entry.name);
    std::uint64_t rows = entry.bytes.size();
    if (!known) rows = limit == limits_.end() ? 0 : std::min<std::uint64_t>(rows, limit->second);
    snapshot_.pieces.push_back(
        {entry.name, entry.schema, rows, {entry.bytes.begin(), entry.bytes.end()}});
  }

  void read_definitions() {
    const Result<std::string> content = read_file(spool_.definitions_path());
    if (!content) return;
    scan_log({reinterpret_cast<const std::uint8_t*>(content->data()), content->size()},
             [&](const LogEntry& entry, std::uint64_t) {
               if (entry.kind == EntryKind::kLosses) losses_.add(entry.bytes);
               if (entry.kind == EntryKind::kChunk) {
                 snapshot_.definitions.emplace_back(entry.bytes.begin(), entry.bytes.end());
               }
             });
  }

  Spool& spool_;
  Liveness liveness_;
  Snapshot snapshot_;
  PoolLosses losses_;
  std::int64_t damage_ = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> logs_;  // n, bytes
  std::vector<Pool> pools_;
  std::vector<Measured> measured_;
  std::map<ChunkName, std::uint64_t> limits_;
  std::map<ChunkName, Snapshot::Piece> copied_;
  std::set<ChunkName> logged_;
};

}  // namespace

Result<Snapshot> Spool::snapshot(const Clock& clock,
                                 const std::vector<std::uint64_t>& replaced_logs) {
  return SnapshotTaker(*this, clock).take(replaced_logs);
}

}  // namespace fathom::trace
