// SPDX-License-Identifier: MIT
// Copies segments into logs and frees them. The order of steps is the point: log first, free
// afterwards; close a pool before looking at it once more; never trust what lies in a mapping.
// drainer_logs.cc writes and keeps the logs, drainer_live.cc shows what lies in segments meanwhile.
//
// What a pass does with a segment, by its state and by what is known of its owner (may_take):
//
//   state    owner                  the segment
//   FREE     -                      is left
//   FULL     -                      is taken: logged, then freed
//   OWNED    lives                  is left: its thread writes there
//   OWNED    unseen                 is left, and `owners_unknown` says so
//   OWNED    gone                   is taken over, then taken; it tells what call its owner died in
//   PARTIAL  who has the pid in it  as OWNED
//   PARTIAL  nobody                 as OWNED, by whether anybody lives who writes in the pool
//
// What a pass does with a pool (refresh_pools, remove_idle_pools):
//
//   its file                        the pool
//   is not complete yet, or gone    is looked for again in the next pass
//   may not be opened               the same; it counts as a loss meanwhile (denied_)
//   is damaged                      is left for good (unreadable_)
//   is another run's, or a copy     is left for good (copies_), removed when nobody writes any more
//   is cut                          gets its size back, before the program touches what is gone
//   is removed by somebody          is drained as before: both sides have it mapped
//   all FREE, creator gone          is closed, looked at again, then removed; its losses are kept
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
// Chunks that are copied before their pages are given back. The kernel maps the neighbours of what
// is read too: these are some 16 MiB.
constexpr std::uint64_t kChunksBetweenSheds = 256;

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

// Whatever somebody removed and others need: processes that attach, and whoever reads or goes on
// after us.
Status Drainer::keep_files() {
  FATHOM_TRY(spool_->remake());
  page_.keep();
  if (definitions_ && !definitions_->is_there() && !spool_->files().has(kDefinitionsLog))
    FATHOM_TRY(definitions_->write_again());
  return {};
}

// One that was removed is ours, and the program's, as long as both have it mapped.
void Drainer::mend_if_cut(Pool& pool) {
  if (pool.file_state() != Pool::FileState::kCut) return;
  if (pool.mend()) (void)note(Journal::pool_cut()).has_value();
}

// Where programs cannot be seen, their files tell of them: dates before we write there ourselves,
// then what they add. Who has left no segment open has ended.
void Drainer::hear_of_unseen_owners() {
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
      denied_.erase(path);
    } else if (pool.error().code == Code::kDenied) {
      denied_.insert(path);
    } else if (pool.error().code != Code::kNotFound) {
      unreadable_.insert(path);
    }
  }
  std::uint64_t bytes = 0;
  for (auto& [path, pool] : pools_) {
    mend_if_cut(pool);
    bytes += pool.file_bytes();
  }
  sheds_pages_ = bytes > kMostMapped;
  liveness_.begin_pass();
  hear_of_unseen_owners();
  for (auto& [path, pool] : pools_) {
    note_owners(pool);
    shed_pages(pool);
  }
  return {};
}

void Drainer::note_owners(Pool& pool) {
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
      shed_pages(pool);
    }
  }
  std::sort(work.begin(), work.end(), [](const Work& a, const Work& b) {
    return drain_order(a.first) < drain_order(b.first);
  });
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
    if (result.chunks % kChunksBetweenSheds != 0) continue;
    for (const auto& [path, pool] : pools_) shed_pages(pool);
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
    if (!gone) shed_pages(pool);
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
  if (!denied_.empty())
    losses.push_back({"", kDeniedPool, static_cast<std::int64_t>(denied_.size())});
  const std::size_t copies = copies_.size() + spool_->copied_logs().size();
  if (copies > 0) losses.push_back({"", kCopiesLost, static_cast<std::int64_t>(copies)});
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
