// SPDX-License-Identifier: MIT
// Reading a spool while guests write and a recorder drains, without stopping either. Lengths are
// read first, of logs and of all segments; then bytes. A row lies below the first reading, so
// whatever it refers to was written before and is found in the second. A segment that is drained in
// between is found in the log by its name.
#include <fcntl.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "trace/definer.h"
#include "trace/drainer.h"
#include "trace/liveness.h"
#include "trace/spool.h"

namespace fathom::trace {
namespace {

template <class T>
T load(const T& word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}

std::span<const std::uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

bool damaged_inside(const LogScan& scan, std::uint64_t size) {
  return scan.damaged_bytes > size - scan.sound_bytes;
}

}  // namespace

class SnapshotTaker {
 public:
  SnapshotTaker(Spool& spool, const Clock& clock, bool undisturbed)
      : spool_(spool), liveness_(spool.header(), clock), undisturbed_(undisturbed), taken_(spool) {}

  Result<Snapshot> take(const std::vector<std::uint64_t>& replaced) {
    measure_logs(replaced);
    FATHOM_TRY(measure_pools());
    for (const Measured& measured : measured_) take_segment(measured);
    return std::move(taken_);
  }

 private:
  struct Measured {
    std::size_t pool;
    std::uint32_t index;
    Pool::Claim claim;
    ChunkName name;
    std::uint64_t progress;
  };

  void measure_logs(const std::vector<std::uint64_t>& replaced) {
    for (const std::uint64_t n : spool_.logs()) {
      if (std::find(replaced.begin(), replaced.end(), n) != replaced.end()) continue;
      const Result<File> file = File::open(spool_.log_path(n), 0);
      const Result<std::uint64_t> size =
          file ? file->size() : Result<std::uint64_t>(std::uint64_t{0});
      taken_.logs_.push_back({n, size ? *size : 0});
    }
  }

  Status measure_pools() {
    taken_.losses_.add(spool_.shared());
    taken_.refused_ = static_cast<std::int64_t>(spool_.header().refused & INT64_MAX);
    FATHOM_ASSIGN(const std::vector<std::string> paths, spool_.pool_paths());
    for (const std::string& path : paths) {
      Result<Pool> pool = Pool::open(path, false);
      if (pool) {
        taken_.losses_.add(pool->header());
        taken_.pools_.push_back(std::move(pool).value());
      } else if (pool.error().code == Code::kCorrupt || pool.error().code == Code::kUnsupported) {
        taken_.damage_++;
      } else if (pool.error().code == Code::kDenied) {
        taken_.shut_++;
      }
    }
    liveness_.heard(static_cast<std::int64_t>(spool_.header().heartbeat_ns & INT64_MAX));
    for (const Pool& pool : taken_.pools_) liveness_.heard(pool.changed_realtime_ns());
    for (std::size_t at = 0; at < taken_.pools_.size(); at++) measure_pool(at);
    return {};
  }

  void measure_pool(std::size_t at) {
    const Pool& pool = taken_.pools_[at];
    for (std::uint32_t index = 0; index < pool.count(); index++) {
      const Pool::Claim claim = pool.claim(index);
      if (claim.state == FATHOM_SEGMENT_FREE) continue;
      const std::uint32_t generation = pool.generation(index);
      const std::uint64_t progress = load(pool.segment(index).progress);
      const Measured measured{at, index, claim, {pool.name_hash(), index, generation}, progress};
      measured_.push_back(measured);
      taken_.limits_[measured.name] = pool.records(index, progress).size();
    }
  }

  void take_segment(const Measured& measured) {
    const Pool& pool = taken_.pools_[measured.pool];
    const fathom_segment& segment = pool.segment(measured.index);
    const std::uint64_t later = load(segment.progress);
    const auto bytes =
        pool.records(measured.index, std::max(later & UINT32_MAX, measured.progress & UINT32_MAX));
    Snapshot::Piece piece{measured.name,
                          spool_.schema(pool.header().schema_hash),
                          taken_.limits_[measured.name],
                          bytes,
                          {}};
    if (!undisturbed_) {
      keep_copy(piece);
      __atomic_thread_fence(__ATOMIC_ACQUIRE);
      // Recycled in between: the log has it.
      if (pool.generation(measured.index) != measured.name.generation) return;
    }
    const bool written = look_at_owner(pool, measured, piece.bytes);
    if (undisturbed_ && written) keep_copy(piece);
    taken_.pieces_.push_back(std::move(piece));
  }

  static void keep_copy(Snapshot::Piece& piece) {
    piece.copy.assign(piece.bytes.begin(), piece.bytes.end());
    piece.bytes = piece.copy;
  }

  // Whether somebody may still write there.
  bool look_at_owner(const Pool& pool, const Measured& measured,
                     std::span<const std::uint8_t> bytes) {
    if (measured.claim.state == FATHOM_SEGMENT_FULL) return false;
    const fathom_segment& segment = pool.segment(measured.index);
    const std::uint32_t pid = measured.claim.owner_pid;
    const std::uint64_t key = __atomic_load_n(&segment.owner_key, __ATOMIC_RELAXED);
    RunHead head;
    const bool known = last_switch({bytes, spool_.schema(pool.header().schema_hash)}, head);
    const bool alive =
        pid != 0 && liveness_.alive(pid, key, known && head.key == key ? head.tick : 0);
    (liveness_.silent() ? taken_.owners_unknown : taken_.owners_alive) |= alive;
    const auto kind = static_cast<std::uint32_t>(measured.progress >> 32);
    if (kind != 0) {
      taken_.in_flight.push_back({pid, __atomic_load_n(&segment.owner_tid, __ATOMIC_RELAXED), key,
                                  kind, __atomic_load_n(&segment.in_call_since, __ATOMIC_RELAXED),
                                  pool.header().schema_hash, alive});
    }
    return alive || pid == 0;
  }

  Spool& spool_;
  Liveness liveness_;
  bool undisturbed_;
  Snapshot taken_;
  std::vector<Measured> measured_;
};

Result<Snapshot> Spool::snapshot(const Clock& clock,
                                 const std::vector<std::uint64_t>& replaced_logs,
                                 bool undisturbed) {
  return SnapshotTaker(*this, clock, undisturbed).take(replaced_logs);
}

// Segments first: one that was drained before it could be taken has left its definitions in the
// file.
void Snapshot::visit_definitions(const std::function<void(const Chunk&)>& visit) {
  for (const Piece& piece : pieces_) visit({piece.bytes, piece.schema});
  const Result<File> log =
      File::open(spool_->definitions_path(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!log) return;
  const Result<LogScan> scan = scan_log_file(*log, 0, [&](const LogEntry& entry, std::uint64_t) {
    if (entry.kind == EntryKind::kLosses) losses_.add(entry.bytes);
    if (entry.kind == EntryKind::kDrained) journal_.add(entry.bytes);
    if (entry.kind == EntryKind::kProcesses) (void)decode_processes(entry.bytes, processes);
    if (entry.kind == EntryKind::kChunk) visit({entry.bytes, nullptr});
  });
  (void)scan.has_value();
}

void Snapshot::visit_rows(const std::function<void(const Batch&)>& visit) {
  for (const Log& log : logs_) visit_log(log, visit);
  visit_segments(visit);
}

void Snapshot::visit_log(const Log& log, const std::function<void(const Batch&)>& visit) {
  if (log.bytes == 0) return;
  // Read and not mapped: a recorder that finds no room cuts its log back.
  const Result<std::string> text = read_file(spool_->log_path(log.n));
  if (!text) {
    damage_++;
    return;
  }
  Batch batch;
  const auto content = as_bytes(*text);
  const LogScan scan = scan_log(content, [&](const LogEntry& entry, std::uint64_t offset) {
    take_entry(entry, offset < log.bytes, batch);
  });
  // A torn end is a write that is going on, or was when the recorder died; the segment still holds
  // it then.
  if (damaged_inside(scan, content.size())) damage_++;
  visit(batch);
}

void Snapshot::take_entry(const LogEntry& entry, bool known, Batch& batch) {
  if (entry.kind == EntryKind::kRows && known) batch.rows.push_back(entry.bytes);
  if (entry.kind != EntryKind::kChunk || !logged_.insert(entry.name).second) return;
  const auto limit = limits_.find(entry.name);
  std::size_t rows = entry.bytes.size();
  if (!known) rows = limit == limits_.end() ? 0 : std::min<std::size_t>(rows, limit->second);
  if (rows > 0) batch.chunks.push_back({entry.bytes.first(rows), spool_->schema(entry.schema)});
}

void Snapshot::visit_segments(const std::function<void(const Batch&)>& visit) {
  std::vector<std::pair<RunHead, const Piece*>> order;
  for (const Piece& piece : pieces_) {
    if (piece.rows_bytes > 0 && !logged_.contains(piece.name))
      order.emplace_back(first_switch({piece.bytes, piece.schema}), &piece);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return drain_order(a.first) < drain_order(b.first);
  });
  Batch batch;
  std::size_t bytes = 0;
  for (const auto& [head, piece] : order) {
    if (bytes > 0 && bytes + piece->rows_bytes > kLogBytes) {
      visit(batch);
      batch.chunks.clear();
      bytes = 0;
    }
    bytes += piece->rows_bytes;
    batch.chunks.push_back({piece->bytes.first(piece->rows_bytes), piece->schema});
  }
  if (!batch.chunks.empty()) visit(batch);
}

// A log that was begun since is there, since nothing is packed while we look.
std::vector<Loss> Snapshot::gaps(const std::vector<std::uint64_t>& packed,
                                 const Definitions& definitions) const {
  std::uint64_t next = 0;
  for (const std::uint64_t n : packed) next = std::max(next, n + 1);
  for (const Log& log : logs_) next = std::max(next, log.n + 1);
  const auto has_log = [&](std::uint64_t n) {
    return std::ranges::find(packed, n) != packed.end() ||
           std::ranges::find(logs_, n, &Log::n) != logs_.end() || path_exists(spool_->log_path(n));
  };
  return journal_.gaps(
      {.runs = losses_.runs(), .next_log = next, .has_log = has_log, .definitions = &definitions});
}

std::vector<Loss> Snapshot::losses() const {
  std::vector<Loss> losses = losses_.losses();
  if (damage_ > 0) losses.push_back({"", "damaged file in the spool", damage_});
  if (shut_ > 0) losses.push_back({"", kShutPool, shut_});
  if (refused_ > 0) losses.push_back({"", kNoPool, refused_});
  return losses;
}

}  // namespace fathom::trace
