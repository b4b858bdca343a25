// SPDX-License-Identifier: MIT
// Reading a spool while guests write and a recorder drains, without stopping either. Lengths are
// read first, of all segments and then of logs; then bytes. A row lies below the first reading, so
// whatever it refers to was written before and is found in the second. The order is that of
// draining: what left a segment before it was measured is in a log when that is measured. A segment
// that is drained later is found in the log by its name, also in a log that was begun since.
#include "trace/spool/snapshot.h"

#include <algorithm>
#include <utility>

#include "trace/decode/definer.h"
#include "trace/decode/host_rows.h"
#include "trace/spool/drainer.h"
#include "trace/spool/liveness.h"

namespace fathom::trace {
namespace {

// Segments that somebody may change are copied while there is room for that.
constexpr std::size_t kMostCopied = std::size_t{256} << 20;

std::span<const std::uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

class SnapshotReader {
 public:
  SnapshotReader(Spool& spool, const Clock& clock, bool undisturbed)
      : spool_(spool), liveness_(spool.header(), clock), undisturbed_(undisturbed), taken_(spool) {}

  Result<Snapshot> take(const std::vector<std::uint64_t>& replaced) {
    replaced_ = {replaced.begin(), replaced.end()};
    FATHOM_TRY(measure_pools());
    measure_logs();
    for (const Measured& measured : measured_) {
      const PoolFile& pool = taken_.pools_[measured.pool];
      // A run may have more pools than a process may have descriptors: one is open at a time.
      if (&pool != last_) go_on_to(&pool);
      take_segment(pool, measured);
    }
    go_on_to(nullptr);
    add_new_logs();
    if (undisturbed_ && !taken_.owners_alive) find_cut_files();
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

  void go_on_to(const PoolFile* next) {
    if (last_ != nullptr) last_->close();
    last_ = next;
  }

  void measure_logs() {
    for (const std::string& name : spool_.copied_logs())
      taken_.damage(name, "a copy of another log");
    for (const std::uint64_t n : spool_.logs()) {
      if (replaced_.contains(n)) continue;
      const Result<File> file = spool_.files().read(Spool::log_name(n));
      const Result<std::uint64_t> size = file ? file->size() : Result<std::uint64_t>(file.error());
      if (size) {
        taken_.logs_.push_back({n, *size});
      } else if (size.error().code == Code::kNotFound) {
        taken_.changed_ = true;
      } else {
        taken_.damage(Spool::log_name(n), size.error().message);
      }
    }
  }

  // What was measured in a segment may have gone into a log that was begun since.
  void add_new_logs() {
    for (const std::uint64_t n : spool_.logs()) {
      const bool known =
          replaced_.contains(n) ||
          std::ranges::any_of(taken_.logs_, [n](const Snapshot::Log& log) { return log.n == n; });
      if (!known) taken_.logs_.push_back({n, 0});
    }
  }

  Status measure_pools() {
    taken_.losses_.add(spool_.shared());
    taken_.refused_ = static_cast<std::int64_t>(spool_.header().refused & INT64_MAX);
    FATHOM_ASSIGN(const std::vector<std::string> paths, spool_.pool_paths());
    for (const std::string& path : paths) {
      const std::string name(base_name(path));
      Result<PoolFile> pool = PoolFile::open(spool_.files(), name);
      const std::string strange = pool ? spool_.why_not_ours(pool->header(), name) : "";
      if (!strange.empty()) {
        taken_.damage(name, strange);
      } else if (pool) {
        taken_.losses_.add(pool->header());
        taken_.losses_.add(pool->shared());
        taken_.pools_.push_back(std::move(pool).value());
      } else if (pool.error().code == Code::kNotFound) {
        unready_.push_back(name);
      } else if (pool.error().code == Code::kDenied) {
        taken_.denied_++;
      } else {
        taken_.damage(name, pool.error().message);
      }
    }
    liveness_.heard(static_cast<std::int64_t>(spool_.header().heartbeat_ns & INT64_MAX));
    for (const PoolFile& pool : taken_.pools_) liveness_.heard(pool.changed_realtime_ns());
    for (std::size_t at = 0; at < taken_.pools_.size(); at++) measure_pool(at);
    return {};
  }

  void measure_pool(std::size_t at) {
    const PoolFile& pool = taken_.pools_[at];
    for (std::uint32_t index = 0; index < pool.count(); index++) {
      fathom_segment segment{};
      if (!pool.read_segment(index, segment)) break;
      const Pool::Claim claim = Pool::Claim::of(segment.claim);
      if (claim.state == FATHOM_SEGMENT_FREE) continue;
      const Measured measured{
          at, index, claim, {pool.name_hash(), index, segment.generation}, segment.progress};
      measured_.push_back(measured);
      taken_.limits_[measured.name] = pool.records_size(segment.progress);
    }
    pool.close();
  }

  void take_segment(const PoolFile& pool, const Measured& measured) {
    fathom_segment later{};
    // Gone or recycled in between: the log has it.
    if (!pool.read_segment(measured.index, later) || later.generation != measured.name.generation)
      return;
    const std::size_t rows = pool.records_size(measured.progress);
    const std::size_t all = std::max(rows, pool.records_size(later.progress));
    Snapshot::Piece piece;
    piece.name = measured.name;
    piece.schema = spool_.schema(pool.header().schema_hash);
    piece.rows_bytes = rows;
    piece.all_bytes = all;
    piece.pool = measured.pool;
    if (!pool.read_records(measured.index, all, memory_)) {
      taken_.damage(pool.name(), "cut off");
      piece.all_bytes = memory_.size();
      piece.rows_bytes = std::min(rows, piece.all_bytes);
    }
    // What was read may be half of one fill and half of the next.
    if (!undisturbed_ && is_recycled(pool, measured)) return;
    const bool written = look_at_owner(pool, measured, later);
    piece.head = first_switch({memory_, piece.schema});
    // What nobody changes can be read again when it is wanted.
    if (written || !undisturbed_) keep_copy(piece);
    taken_.pieces_.push_back(std::move(piece));
  }

  // The bytes first, then whose they are: closing the pool makes the next reading a new one.
  static bool is_recycled(const PoolFile& pool, const Measured& measured) {
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    pool.close();
    fathom_segment now{};
    return !pool.read_segment(measured.index, now) || now.generation != measured.name.generation;
  }

  void keep_copy(Snapshot::Piece& piece) {
    if (copied_ + memory_.size() > kMostCopied) return;
    copied_ += memory_.size();
    piece.copy = memory_;
    piece.copied = true;
  }

  // Whether somebody may still write there.
  bool look_at_owner(const PoolFile& pool, const Measured& measured,
                     const fathom_segment& segment) {
    if (measured.claim.state == FATHOM_SEGMENT_FULL) return false;
    const std::uint32_t pid = measured.claim.owner_pid;
    const std::uint64_t key = segment.owner_key;
    RunHead head;
    const bool known = last_switch({memory_, spool_.schema(pool.header().schema_hash)}, head);
    const std::uint64_t tick = known && head.key == key ? head.tick : 0;
    const Life life = pid != 0 ? liveness_.life(measured.claim.owner(), key, tick) : Life::kGone;
    const bool alive = life != Life::kGone;
    const bool unknown = life == Life::kUnseen && liveness_.silent();
    taken_.owners_unknown |= unknown;
    taken_.owners_alive |= alive && !unknown;
    const auto kind = static_cast<std::uint32_t>(measured.progress >> 32);
    if (kind != 0) {
      taken_.in_flight.push_back({pid, segment.owner_tid, key, kind, segment.in_call_since,
                                  pool.header().schema_hash, alive});
    }
    // Without a pid it was handed on, and anybody may take it up.
    return alive || pid == 0;
  }

  // What is going to be filled is short for a moment. Where nobody is there to fill it, it was cut.
  void find_cut_files() {
    for (const std::string& name : unready_) {
      const Result<File> file = spool_.files().read(name);
      const Result<std::uint64_t> size = file ? file->size() : Result<std::uint64_t>(file.error());
      if (size && *size < FATHOM_POOL_HEADER_SIZE) taken_.damage(name, "cut off");
    }
    for (const Snapshot::Log& log : taken_.logs_) {
      if (log.bytes == 0) taken_.damage(Spool::log_name(log.n), "cut off");
    }
    taken_.torn_is_damage_ = true;
  }

  Spool& spool_;
  Liveness liveness_;
  bool undisturbed_;
  Snapshot taken_;
  std::set<std::uint64_t> replaced_;
  std::vector<Measured> measured_;
  std::vector<std::string> unready_;
  std::vector<std::uint8_t> memory_;  // the segment that is looked at
  std::size_t copied_ = 0;
  const PoolFile* last_ = nullptr;
};

Result<Snapshot> Spool::snapshot(const Clock& clock,
                                 const std::vector<std::uint64_t>& replaced_logs,
                                 bool undisturbed) {
  return SnapshotReader(*this, clock, undisturbed).take(replaced_logs);
}

void Snapshot::damage(const std::string& name, const std::string& reason) {
  if (damaged_.size() < kMostDamaged) damaged_.push_back({spool_->files().path_of(name), reason});
}

std::span<const std::uint8_t> Snapshot::load(const Piece& piece,
                                             std::vector<std::uint8_t>& memory) {
  if (piece.copied) return piece.copy;
  const PoolFile& pool = pools_[piece.pool];
  fathom_segment now{};
  const bool whole = pool.read_records(piece.name.index, piece.all_bytes, memory);
  const bool there = pool.read_segment(piece.name.index, now);
  pool.close();
  if (whole && there && now.generation == piece.name.generation) return memory;
  changed_ = true;
  return {};
}

// Segments first: one that was drained before it could be taken has left its definitions in the
// file.
void Snapshot::visit_definitions(const std::function<void(const Chunk&)>& visit) {
  std::vector<std::uint8_t> memory;
  for (const Piece& piece : pieces_) visit({load(piece, memory), piece.schema});
  const Result<File> file = spool_->files().read(kDefinitionsLog);
  if (!file) {
    if (file.error().code != Code::kNotFound) damage(kDefinitionsLog, file.error().message);
    return;
  }
  const Result<std::uint64_t> size = file->size();
  const Result<LogScan> scan =
      scan_log(*file, 0, kMostLogBytes, [&](const LogEntry& entry, std::uint64_t) {
        if (entry.kind == EntryKind::kLosses) losses_.add(entry.bytes);
        if (entry.kind == EntryKind::kDrained) journal_.add(entry.bytes);
        if (entry.kind == EntryKind::kProcesses)
          (void)decode_processes(entry.bytes, seen.processes);
        if (entry.kind == EntryKind::kLives) (void)decode_lives(entry.bytes, seen);
        if (entry.kind == EntryKind::kLivesUnsampled)
          (void)decode_unsampled_lives(entry.bytes, seen);
        if (entry.kind == EntryKind::kChunk) visit({entry.bytes, nullptr});
      });
  if (!scan || !size || is_damaged(*scan, *size)) damage(kDefinitionsLog, "damaged");
}

void Snapshot::visit_rows(const std::function<void(const Batch&)>& visit) {
  for (const Log& log : logs_) visit_log(log, visit);
  visit_segments(visit);
}

void Snapshot::visit_log(const Log& log, const std::function<void(const Batch&)>& visit) {
  const std::string name = Spool::log_name(log.n);
  // Read and not mapped: a recorder that finds no room cuts its log back.
  const Result<std::string> text = spool_->files().read_whole(name, kLargestDrained);
  if (!text) {
    changed_ |= text.error().code == Code::kNotFound;
    damage(name, text.error().message);
    return;
  }
  Batch batch;
  const auto content = as_bytes(*text);
  OwnEntries own = spool_->entries_of(log.n);
  const LogScan scan = scan_log(content, [&](const LogEntry& entry, std::uint64_t offset) {
    if (own.take(entry)) take_entry(entry, offset < log.bytes, batch);
  });
  if (own.any_of_others()) damage(name, "another log was copied into it");
  if (is_damaged(scan, content.size())) damage(name, "damaged");
  visit(batch);
}

// A torn end is a write that is going on, or was when the recorder died: the segment still holds it
// then.
bool Snapshot::is_damaged(const LogScan& scan, std::uint64_t size) const {
  if (scan.damaged_bytes > size - scan.sound_bytes) return true;
  if (!torn_is_damage_ || scan.damaged_bytes == 0) return false;
  return !scan.torn || !limits_.contains(*scan.torn);
}

void Snapshot::take_entry(const LogEntry& entry, bool known, Batch& batch) {
  if (entry.kind == EntryKind::kRows && known) batch.rows.push_back(entry.bytes);
  if (entry.kind != EntryKind::kChunk || !logged_.insert(entry.name).second) return;
  const auto limit = limits_.find(entry.name);
  std::size_t rows = entry.bytes.size();
  if (!known) rows = limit == limits_.end() ? 0 : std::min<std::size_t>(rows, limit->second);
  if (rows > 0) batch.chunks.push_back({entry.bytes.first(rows), spool_->schema(entry.schema)});
}

std::vector<const Snapshot::Piece*> Snapshot::pieces_in_order() const {
  std::vector<const Piece*> order;
  for (const Piece& piece : pieces_) {
    if (piece.rows_bytes > 0 && !logged_.contains(piece.name)) order.push_back(&piece);
  }
  std::stable_sort(order.begin(), order.end(), [](const Piece* a, const Piece* b) {
    return drain_order(a->head) < drain_order(b->head);
  });
  return order;
}

void Snapshot::visit_segments(const std::function<void(const Batch&)>& visit) {
  Batch batch;
  std::vector<std::vector<std::uint8_t>> memory;
  std::size_t bytes = 0;
  const auto hand_over = [&] {
    if (!batch.chunks.empty()) visit(batch);
    batch.chunks.clear();
    memory.clear();
    bytes = 0;
  };
  for (const Piece* piece : pieces_in_order()) {
    if (bytes > 0 && bytes + piece->rows_bytes > kLogBytes) hand_over();
    memory.emplace_back();
    const auto loaded = load(*piece, memory.back());
    bytes += piece->rows_bytes;
    batch.chunks.push_back(
        {loaded.first(std::min(piece->rows_bytes, loaded.size())), piece->schema});
  }
  hand_over();
}

// A log that was begun since is there, since nothing is packed while we look.
std::vector<Loss> Snapshot::gaps(const std::vector<std::uint64_t>& packed,
                                 const Definitions& definitions) const {
  std::uint64_t next = 0;
  for (const std::uint64_t n : packed) next = std::max(next, n + 1);
  for (const Log& log : logs_) next = std::max(next, log.n + 1);
  const auto has_log = [&](std::uint64_t n) {
    return std::ranges::find(packed, n) != packed.end() ||
           std::ranges::find(logs_, n, &Log::n) != logs_.end() || spool_->has_log(n);
  };
  return journal_.gaps(
      {.runs = losses_.runs(), .next_log = next, .has_log = has_log, .definitions = &definitions});
}

std::vector<Loss> Snapshot::losses() const {
  std::vector<Loss> losses = losses_.losses(spool_);
  if (!damaged_.empty())
    losses.push_back({"", "damaged file in the spool", static_cast<std::int64_t>(damaged_.size())});
  if (denied_ > 0) losses.push_back({"", kDeniedPool, denied_});
  if (refused_ > 0) losses.push_back({"", kNoPool, refused_});
  return losses;
}

}  // namespace fathom::trace
