// SPDX-License-Identifier: MIT
// Copies segments into logs and frees them. The order of steps is the point: log first, free
// afterwards; close a pool before looking at it once more; never trust what lies in a mapping.
#include "trace/spool/drainer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/clock.h"
#include "trace/decode/definer.h"

namespace fathom::trace {
namespace {

template <class T>
T load(const T& word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}

std::span<const std::uint8_t> as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// What nobody drained for long may be more than fits into memory.
constexpr std::uint64_t kMostMapped = std::uint64_t{64} << 20;
// Bytes of definitions in a log: whoever packs it has all of its names in memory.
constexpr std::uint64_t kLogNames = std::uint64_t{4} << 20;
constexpr std::size_t kMostOpenLogs = 128;  // descriptors are few; older ones have their file alone
constexpr std::uint64_t kChunksPerRest = 256;  // the kernel maps the neighbours too: some 16 MiB

bool all_free(const Pool& pool) {
  for (std::uint32_t index = 0; index < pool.count(); index++) {
    if (pool.claim(index).state != FATHOM_SEGMENT_FREE) return false;
  }
  return true;
}

ChunkName name_of(const Pool& pool, std::uint32_t index) {
  return {pool.name_hash(), index, pool.generation(index)};
}

void note_life(Life life, DrainResult& result) {
  result.owners_alive |= life == Life::kLives;
  result.owners_unknown |= life == Life::kUnseen;
}

}  // namespace

Drainer::Drainer(Spool& spool, const Clock& clock, std::uint64_t first_log)
    : spool_(&spool),
      liveness_(spool.header(), clock),
      page_(join_path(spool.directory(), FATHOM_RUN_FILE), spool.header()),
      next_log_(first_log) {}

Result<Drainer> Drainer::open(Spool& spool, const Clock& clock, std::uint64_t first_log) {
  Drainer drainer(spool, clock, first_log);
  FATHOM_TRY(drainer.scan_existing());
  // The number of a log that somebody removed is not given to another one.
  drainer.next_log_ = std::max(drainer.next_log_, drainer.journal_.next_log());
  return drainer;
}

// A drainer that was killed may have logged a segment and not freed it.
Status Drainer::scan_existing() {
  for (const std::uint64_t n : spool_->logs()) {
    const Result<OpenLog> log = open_log(n);
    // Something else is in its place: its events are a gap.
    if (!log) continue;
    OwnEntries own = spool_->entries_of(n);
    FATHOM_TRY(scan_log(log->file, 0, kMostLogBytes, [&](const LogEntry& entry, std::uint64_t) {
      if (own.take(entry) && entry.kind == EntryKind::kChunk) logged_.insert(entry.name);
    }));
  }
  if (!spool_->files().has(kDefinitionsLog)) return {};
  FATHOM_ASSIGN(definitions_, ChunkLog::open(spool_->files(), kDefinitionsLog));
  FATHOM_TRY(scan_log(definitions_->file(), 0, kMostLogBytes,
                      [this](const LogEntry& entry, std::uint64_t) {
                        if (entry.kind == EntryKind::kLosses) gone_losses_.add(entry.bytes);
                        if (entry.kind == EntryKind::kDrained) journal_.add(entry.bytes);
                      }));
  return {};
}

// Whatever somebody removed and others need: processes that attach, and whoever reads or goes on
// after us.
Status Drainer::keep_files() {
  FATHOM_TRY(spool_->remake());
  page_.keep();
  if (definitions_ && !definitions_->is_there() && !spool_->files().has(kDefinitionsLog))
    FATHOM_TRY(definitions_->write_again());
  return {};
}

Status Drainer::ensure_definitions() {
  if (definitions_) return {};
  FATHOM_ASSIGN(definitions_, ChunkLog::open(spool_->files(), kDefinitionsLog));
  return {};
}

Status Drainer::note(const std::string& entry) {
  FATHOM_TRY(ensure_definitions());
  FATHOM_TRY(definitions_->append({EntryKind::kDrained, {}, 0, as_bytes(entry)}));
  journal_.add(as_bytes(entry));
  return {};
}

// A pool that is cut gets its size again before the program touches what is gone. One that was
// removed is ours, and the program's, as long as both have it mapped.
void Drainer::look_after(Pool& pool) {
  if (pool.file_state() != Pool::FileState::kCut) return;
  if (pool.mend()) (void)note(Journal::pool_cut()).has_value();
}

// Where programs cannot be seen, their files tell of them: dates before we write there ourselves,
// then what they add. Who has left no segment open has ended.
void Drainer::listen() {
  if (!liveness_.may_hide()) return;
  if (last_live_ && *last_live_ != live_state().bytes) liveness_.heard(now_realtime_ns());
  bool writes = false;
  for (const auto& [path, pool] : pools_) {
    if (!last_live_) liveness_.heard(pool.changed_realtime_ns());
    for (std::uint32_t index = 0; index < pool.count(); index++)
      writes |= pool.claim(index).state == FATHOM_SEGMENT_OWNED;
  }
  liveness_.set_deserted(liveness_.silent() && !writes);
}

Status Drainer::refresh_pools() {
  runs_begun_ = counted().runs();  // before we look: what was begun then is there
  FATHOM_TRY(keep_files());
  FATHOM_ASSIGN(const std::vector<std::string> paths, spool_->pool_paths());
  for (const std::string& path : paths) {
    if (pools_.contains(path) || unreadable_.contains(path) || copies_.contains(path)) continue;
    if (!spool_->files().has_file(base_name(path))) continue;  // somebody put something else there
    Result<Pool> pool = Pool::open(spool_->files(), base_name(path), true);
    if (pool && !spool_->why_not_ours(pool->header(), base_name(path)).empty()) {
      copies_.insert(path);
    } else if (pool) {
      pools_.emplace(path, std::move(pool).value());
      shut_.erase(path);
    } else if (pool.error().code == Code::kDenied) {
      shut_.insert(path);
    } else if (pool.error().code != Code::kNotFound) {
      unreadable_.insert(path);
    }
  }
  std::uint64_t bytes = 0;
  for (auto& [path, pool] : pools_) {
    look_after(pool);
    bytes += pool.file_bytes();
  }
  many_ = bytes > kMostMapped;
  liveness_.begin_pass();
  listen();
  for (auto& [path, pool] : pools_) {
    see_owners(pool);
    rest(pool);
  }
  return {};
}

void Drainer::see_owners(Pool& pool) {
  for (std::uint32_t index = 0; index < pool.count(); index++) {
    const Pool::Claim claim = pool.claim(index);
    if (claim.state == FATHOM_SEGMENT_FREE) continue;
    const RunHead head = first_switch(chunk_of(pool, index));
    if (head.tick == 0) continue;
    // Where its pid counts is told of the owner alone. Others are known as well where all pids
    // count in one namespace.
    const bool owns = claim.owner_pid != 0 && head.key == load(pool.segment(index).owner_key) &&
                      pool.claim(index).word == claim.word;
    if (claim.owner_space != 0) several_spaces_ = true;
    if (!owns && several_spaces_) continue;
    const Pid pid =
        owns ? claim.owner() : Pid{.number = static_cast<std::uint32_t>(head.pid), .space = 0};
    liveness_.saw(pid, head.key, head.tick);
  }
}

Chunk Drainer::chunk_of(const Pool& pool, std::uint32_t index) const {
  return {pool.records(index, load(pool.segment(index).progress)),
          spool_->schema(pool.header().schema_hash)};
}

Life Drainer::owner_life(const Pool& pool, std::uint32_t index, const Pid& pid) const {
  const std::uint64_t key = load(pool.segment(index).owner_key);
  std::uint64_t tick = 0;
  RunHead head;
  // The last SWITCH costs a walk over the segment; the first tells nearly always as much.
  if (liveness_.ambiguous(pid)) {
    if (last_switch(chunk_of(pool, index), head) && head.key == key) tick = head.tick;
  } else {
    head = first_switch(chunk_of(pool, index));
    if (head.key == key) tick = head.tick;
  }
  return liveness_.life(pid, key, tick);
}

Life Drainer::creator_life(const Pool& pool) const {
  return liveness_.life_since(pool.creator(), load(pool.header().creator_key),
                              pool.made_realtime_ns());
}

Life Drainer::pool_life(const Pool& pool) const {
  Life life = creator_life(pool);
  for (std::uint32_t index = 0; index < pool.count() && life != Life::kLives; index++) {
    const Pool::Claim claim = pool.claim(index);
    if (claim.state == FATHOM_SEGMENT_FREE || claim.owner_pid == 0) continue;
    life = std::max(life, owner_life(pool, index, claim.owner()));
  }
  return life;
}

bool Drainer::may_take(Pool& pool, std::uint32_t index, DrainResult& result) {
  const fathom_segment& segment = pool.segment(index);
  const Pool::Claim claim = pool.claim(index);
  if (claim.state == FATHOM_SEGMENT_FREE) return false;
  if (claim.state == FATHOM_SEGMENT_FULL) return true;
  const bool nobody = claim.owner_pid == 0;  // handed over; in version 2 perhaps just claimed
  const Life life = nobody ? pool_life(pool) : owner_life(pool, index, claim.owner());
  note_life(life, result);
  if (life != Life::kGone) return false;
  // Its owner may have handed it on before it died, and a thread of another process may claim a
  // half full segment at this moment: then it is not what we found.
  if (!pool.take_over(index, claim)) {
    result.owners_alive = true;
    return false;
  }
  const auto kind = static_cast<std::uint32_t>(load(segment.progress) >> 32);
  if (kind != 0 && claim.state == FATHOM_SEGMENT_OWNED) {
    result.died_in.push_back({claim.owner_pid, load(segment.owner_tid), load(segment.owner_key),
                              kind, load(segment.in_call_since), pool.header().schema_hash, false});
  }
  return true;
}

// Twice: a thread may have left a segment that was looked at already for one that was not yet.
void Drainer::collect(std::vector<Work>& work, DrainResult& result) {
  std::set<std::pair<Pool*, std::uint32_t>> taken;
  for (int round = 0; round < 2; round++) {
    for (auto& [path, pool] : pools_) {
      for (std::uint32_t index = 0; index < pool.count(); index++) {
        if (round == 1 && pool.claim(index).state != FATHOM_SEGMENT_FULL) continue;
        if (!may_take(pool, index, result) || !taken.insert({&pool, index}).second) continue;
        work.push_back({&pool, index, first_switch(chunk_of(pool, index))});
      }
      rest(pool);
    }
  }
  std::sort(work.begin(), work.end(), [](const Work& a, const Work& b) {
    return drain_order(a.first) < drain_order(b.first);
  });
}

bool Drainer::is_in_the_way(std::uint64_t n) const {
  const std::string name = Spool::log_name(n);
  return spool_->files().has(name) && !spool_->files().has_file(name);
}

Status Drainer::ensure_log(std::uint64_t room) {
  const bool full = log_ && (log_->size() + room > kLogBytes || names_in_log_ > kLogNames);
  if (full && log_->size() > 0) roll();
  if (!log_) {
    Result<ChunkLog> log = ChunkLog::open(spool_->files(), Spool::log_name(next_log_));
    // Somebody put something else there: another number will do.
    if (!log && is_in_the_way(next_log_))
      log = ChunkLog::open(spool_->files(), Spool::log_name(++next_log_));
    if (!log) return std::move(log).error();
    log_ = std::move(log).value();
    current_log_ = next_log_++;
    names_in_log_ = 0;
  }
  return ensure_definitions();
}

// What a log begins with tells which it is.
Status Drainer::put(const LogEntry& entry) {
  if (log_->size() == 0) {
    const std::string head = spool_->log_head(current_log_);
    FATHOM_TRY(log_->append({EntryKind::kDrained, {}, 0, as_bytes(head)}));
  }
  return log_->append(entry);
}

Status Drainer::take(const Work& work) {
  const ChunkName name = name_of(*work.pool, work.index);
  const Chunk chunk = chunk_of(*work.pool, work.index);
  const std::uint64_t schema = work.pool->header().schema_hash;
  FATHOM_TRY(ensure_log(chunk.bytes.size()));
  if (!chunk.bytes.empty()) {
    const bool fresh = !logged_.contains(name);
    if (fresh) FATHOM_TRY(put({EntryKind::kChunk, name, schema, chunk.bytes}));
    logged_.insert(name);
    std::uint64_t events = 0;
    const std::string definitions = extract_definitions(chunk, events);
    if (!definitions.empty())
      FATHOM_TRY(definitions_->append({EntryKind::kChunk, name, 0, as_bytes(definitions)}));
    // One that was there before us is in another log, and was noted as such.
    if (fresh) FATHOM_TRY(note(Journal::drained(current_log_, events)));
    names_in_log_ += definitions.size();
  }
  work.pool->free(work.index);
  __atomic_fetch_add(&work.pool->header().offers, 1, __ATOMIC_RELEASE);
  logged_.erase(name);
  return {};
}

Result<DrainResult> Drainer::drain() {
  DrainResult result;
  FATHOM_TRY(refresh_pools());
  std::vector<Work> work;
  collect(work, result);
  for (const Work& item : work) {
    const std::uint64_t bytes = chunk_of(*item.pool, item.index).bytes.size();
    if (const Status taken = take(item); !taken) {
      result.trouble = taken.error();
      break;
    }
    result.chunks++;
    result.bytes += bytes;
    if (result.chunks % kChunksPerRest != 0) continue;
    for (const auto& [path, pool] : pools_) rest(pool);
  }
  remove_idle_pools();
  for (const auto& [path, pool] : pools_) {
    result.pools++;
    result.pool_bytes += pool.file_bytes();
    note_life(creator_life(pool), result);
  }
  result.lost = counted().dropped_events();
  last_live_ = live_state().bytes;
  if (result.owners_unknown && !liveness_.silent()) {
    result.owners_alive = true;
    result.owners_unknown = false;
  }
  return result;
}

void Drainer::remove_idle_pools() {
  for (auto at = pools_.begin(); at != pools_.end();) {
    Pool& pool = at->second;
    const bool gone = all_free(pool) && creator_life(pool) == Life::kGone && remove_pool(pool);
    if (!gone) rest(pool);
    at = gone ? pools_.erase(at) : std::next(at);
  }
}

// Closed first, then looked at again: a forked child that claimed a segment in between either
// sees that the pool is closed and gives it back, or is seen here.
bool Drainer::remove_pool(Pool& pool) {
  __atomic_store_n(&pool.header().state, FATHOM_POOL_CLOSED, __ATOMIC_SEQ_CST);
  if (!all_free(pool)) {
    __atomic_store_n(&pool.header().state, FATHOM_POOL_OPEN, __ATOMIC_SEQ_CST);
    return false;
  }
  PoolLosses own;
  own.add(pool.header());
  own.add(pool.shared());
  if (own.any()) {
    const std::string counters = own.encode();
    if (!ensure_log(0) ||
        !definitions_->append(
            {EntryKind::kLosses, {pool.name_hash(), 0, 0}, 0, as_bytes(counters)}))
      return false;
    gone_losses_.add(as_bytes(counters));
  }
  if (pool.file_state() != Pool::FileState::kGone && !pool.remove_file()) return false;
  __atomic_store_n(&pool.header().state, FATHOM_POOL_REMOVED, __ATOMIC_RELEASE);
  page_.give_back(pool.file_bytes());
  return true;
}

void Drainer::remove_copies() {
  for (const std::string& path : copies_) (void)spool_->files().remove(base_name(path));
}

Status Drainer::append(const HostRows& rows, const Strings& strings) {
  std::uint64_t count = rows.rows();
  for (const std::string& bytes : encode_rows(rows, strings)) {
    FATHOM_TRY(ensure_log(bytes.size()));
    FATHOM_TRY(put({EntryKind::kRows, {}, 0, as_bytes(bytes)}));
    FATHOM_TRY(note(Journal::drained(current_log_, std::exchange(count, 0))));
  }
  if (rows.lives.empty()) return {};
  FATHOM_TRY(ensure_definitions());  // no log: the journal would not tell of it
  const std::string bytes = encode_lives(rows.lives);
  return definitions_->append({EntryKind::kLives, {}, 0, as_bytes(bytes)});
}

void Drainer::roll() {
  if (!log_ || log_->size() == 0) return;
  written_.emplace(current_log_, std::move(*log_));
  log_.reset();
  if (written_.size() > kMostOpenLogs) written_.erase(written_.begin());
}

std::vector<std::uint64_t> Drainer::complete_logs() const {
  std::vector<std::uint64_t> logs = spool_->logs();
  std::erase_if(logs, [this](std::uint64_t n) { return is_in_the_way(n); });
  for (const auto& [n, log] : written_) logs.push_back(n);
  if (log_) std::erase(logs, current_log_);
  std::ranges::sort(logs);
  logs.erase(std::unique(logs.begin(), logs.end()), logs.end());
  return logs;
}

Result<Drainer::OpenLog> Drainer::open_log(std::uint64_t n) const {
  const auto ours = written_.find(n);
  if (ours != written_.end()) {
    const std::string path = "/proc/self/fd/" + std::to_string(ours->second.file().fd());
    FATHOM_ASSIGN(File file, File::open(path, O_RDONLY));
    return OpenLog{std::move(file), ours->second.size()};
  }
  FATHOM_ASSIGN(File file, spool_->files().read(Spool::log_name(n)));
  FATHOM_ASSIGN(const std::uint64_t size, file.size());
  return OpenLog{std::move(file), size};
}

void Drainer::remove_log(std::uint64_t n) {
  (void)spool_->files().remove(Spool::log_name(n));
  written_.erase(n);
}

bool Drainer::has_log(std::uint64_t n) const {
  return (log_ && n == current_log_) || written_.contains(n) || spool_->has_log(n);
}

LogEnd Drainer::log_end() const {
  return log_ ? LogEnd{current_log_, log_->size()} : LogEnd{next_log_, 0};
}

void Drainer::visit_owners(const std::function<void(std::uint64_t, const Pid&)>& visit) const {
  for (const auto& [path, pool] : pools_) {
    for (std::uint32_t index = 0; index < pool.count(); index++) {
      const Pool::Claim claim = pool.claim(index);
      const std::uint64_t key = load(pool.segment(index).owner_key);
      const bool owned = claim.state != FATHOM_SEGMENT_FREE && claim.owner_pid != 0 && key != 0;
      if (owned && pool.claim(index).word == claim.word) visit(key, claim.owner());
    }
  }
}

void Drainer::visit_live(const std::function<void(const Chunk&)>& visit) {
  for (const auto& [path, pool] : pools_) {
    for (std::uint32_t index = 0; index < pool.count(); index++) {
      if (pool.claim(index).state != FATHOM_SEGMENT_FREE) visit(chunk_of(pool, index));
    }
  }
}

// A thread that goes on in another segment has left the one before it full. So: how far each was
// filled, then which are full now. A segment that is not was its thread's last one when its filling
// was read, or later ones were not begun then.
std::vector<Drainer::LiveCopy> Drainer::copy_live() {
  struct Seen {
    const Pool* pool;
    std::uint32_t index;
    std::uint64_t progress;
  };
  std::vector<Seen> seen;
  for (const auto& [path, pool] : pools_) {
    for (std::uint32_t index = 0; index < pool.count(); index++) {
      if (pool.claim(index).state != FATHOM_SEGMENT_FREE)
        seen.push_back({&pool, index, load(pool.segment(index).progress)});
    }
  }
  std::vector<LiveCopy> copies;
  for (const Seen& one : seen) {
    const fathom_segment& segment = one.pool->segment(one.index);
    const bool full = one.pool->claim(one.index).state == FATHOM_SEGMENT_FULL;
    const auto bytes = one.pool->records(one.index, full ? load(segment.progress) : one.progress);
    copies.push_back({std::vector<std::uint8_t>(bytes.begin(), bytes.end()),
                      spool_->schema(one.pool->header().schema_hash)});
  }
  return copies;
}

Drainer::LiveState Drainer::live_state() const {
  LiveState state;
  for (const auto& [path, pool] : pools_) {
    for (std::uint32_t index = 0; index < pool.count(); index++) {
      const std::uint32_t of_segment = pool.claim(index).state;
      if (of_segment == FATHOM_SEGMENT_FREE) continue;
      state.full |= of_segment == FATHOM_SEGMENT_FULL;
      state.bytes += 1 + static_cast<std::uint32_t>(load(pool.segment(index).progress));
    }
  }
  return state;
}

PoolLosses Drainer::counted() const {
  PoolLosses all = gone_losses_;
  all.add(page_.shared());
  for (const auto& [path, pool] : pools_) {
    all.add(pool.header());
    all.add(pool.shared());
  }
  return all;
}

std::vector<Loss> Drainer::losses() const {
  std::vector<Loss> losses = counted().losses(spool_);
  if (!unreadable_.empty())
    losses.push_back({"", "damaged pool", static_cast<std::int64_t>(unreadable_.size())});
  if (!shut_.empty()) losses.push_back({"", kShutPool, static_cast<std::int64_t>(shut_.size())});
  const std::size_t copies = copies_.size() + spool_->copied_logs().size();
  if (copies > 0) losses.push_back({"", kCopies, static_cast<std::int64_t>(copies)});
  if (page_.refused() > 0)
    losses.push_back({"", kNoPool, static_cast<std::int64_t>(page_.refused() & INT64_MAX)});
  return losses;
}

std::vector<Loss> Drainer::gaps(const std::function<bool(std::uint64_t)>& packed,
                                const Definitions& definitions) const {
  return journal_.gaps({.runs = runs_begun_,
                        .next_log = next_log_,
                        .has_log = [&](std::uint64_t n) { return packed(n) || has_log(n); },
                        .definitions = &definitions});
}

}  // namespace fathom::trace
