// SPDX-License-Identifier: MIT
// Pools and segments: where the room for records comes from (docs/formats/spool.md, "Segments").
//
// All processes of a run share its pools. One that attaches joins the newest, or makes the first,
// while it may still open files; later it joins or makes one only when neither it nor the host has
// a segment left. In steady state the host empties segments as fast as threads fill them, whoever
// ends hands its half full segment on, and nothing is made at all.
#include "guest/pool.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "guest/pool_file.h"
#include "guest/quiet.h"
#include "guest/syscalls.h"
#include "wire/broker.h"
#include "wire/varint.h"

namespace fathom::guest {

namespace {

constexpr uint32_t kMaxPools = 1200;
constexpr uint32_t kFirstPool = 16;  // segments
constexpr uint32_t kLaterPool = 32;
constexpr uint32_t kSteadyPool = 128;  // from the eighth pool on
constexpr uint32_t kSmallestPool = FATHOM_BROKER_SMALLEST_POOL;
constexpr uint32_t kResidentPools = 8;  // about 7.5 MiB; see drop_views

// What this process knows of a pool.
struct Known {
  fathom_pool_header* pool;  // atomic
  // How many offers it had made when nothing was found there; 0: never searched in vain. Atomic. A
  // pool is searched again only when it has made another: a look at every segment's header would
  // bring all of their pages back into our memory.
  uint64_t offers_in_vain;
  uint32_t number;  // of its file; of the process's one maker
};
// The first apart, beside the other variables (start.ld): a short program knows one.
constinit Known first_known = {};
constinit Known further_known[kMaxPools] = {};
constinit uint32_t pool_count = 0;  // atomic; grows only
constinit uint32_t promising = 0;   // atomic: a pool that should be looked at next

Known& known(uint32_t place) { return place == 0 ? first_known : further_known[place]; }

fathom_segment* segment_at(fathom_pool_header* pool, uint32_t index) {
  auto* base = reinterpret_cast<uint8_t*>(pool) + FATHOM_POOL_HEADER_SIZE;
  return reinterpret_cast<fathom_segment*>(base + static_cast<size_t>(index) * FATHOM_SEGMENT_SIZE);
}

// Left by a process that is about to become another program: to that, or to anybody when it is
// gone. Of a pid that counts elsewhere only the host can tell.
bool is_successor(uint64_t word) {
  const uint32_t pid = fathom_claim_pid(word);
  if (fathom_claim_space(word) != tls.thread->space) return false;
  return pid == static_cast<uint32_t>(tls.thread->pid) ||
         raw_syscall(SYS_kill, static_cast<long>(pid), 0) == -ESRCH;
}

bool may_claim(uint64_t word) {
  return word == FATHOM_SEGMENT_FREE || word == FATHOM_SEGMENT_PARTIAL ||
         (fathom_claim_state(word) == FATHOM_SEGMENT_PARTIAL && is_successor(word));
}

// One exchange takes it and says who did. Sequentially consistent, as is the look at the pool's
// state that follows it, and the host's two steps in the other order (Drainer::remove_pool): of two
// that do so at once, one sees the other.
// `word` is what we guess that it finds; a look before would cost a page fault more.
bool claim(fathom_segment* segment, uint64_t word, uint64_t* before) {
  const Thread& thread = *tls.thread;
  const uint64_t mine = owned_by(thread);
  while (!__atomic_compare_exchange_n(&segment->claim, &word, mine, false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_RELAXED)) {
    if (!may_claim(word)) return false;
  }
  *before = word;
  if (word == FATHOM_SEGMENT_FREE)
    __atomic_store_n(&segment->progress, FATHOM_SEGMENT_HEADER_SIZE, __ATOMIC_RELAXED);
  segment->owner_tid = static_cast<uint32_t>(thread.outer_tid);
  __atomic_store_n(&segment->owner_key, thread.key, __ATOMIC_RELEASE);
  return true;
}

// As `claim` found it, or with what was written since. Nobody's key stays, lest the host take the
// next owner for one that is dead.
void unclaim(fathom_segment* segment, uint64_t state) {
  __atomic_store_n(&segment->owner_key, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&segment->claim, state, __ATOMIC_RELEASE);
}

fathom_segment* claim_in(uint32_t number) {
  fathom_pool_header* pool = __atomic_load_n(&known(number).pool, __ATOMIC_ACQUIRE);
  if (pool == nullptr) return nullptr;
  // Written first, since a page that is only read now is faulted in twice.
  const uint32_t hint = __atomic_fetch_add(&pool->next_hint, 0, __ATOMIC_RELAXED);
  if (__atomic_load_n(&pool->state, __ATOMIC_ACQUIRE) != FATHOM_POOL_OPEN) return nullptr;
  const uint64_t offers = __atomic_load_n(&pool->offers, __ATOMIC_ACQUIRE) + 1;
  if (__atomic_load_n(&known(number).offers_in_vain, __ATOMIC_RELAXED) == offers) return nullptr;
  const uint32_t count = pool->segment_count;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t index = (hint + i) % count;
    fathom_segment* segment = segment_at(pool, index);
    uint64_t before = 0;
    if (i > 0 && !may_claim(__atomic_load_n(&segment->claim, __ATOMIC_RELAXED))) continue;
    if (!claim(segment, FATHOM_SEGMENT_PARTIAL, &before)) continue;
    __atomic_store_n(&pool->next_hint, index + 1, __ATOMIC_RELAXED);
    // The host may have closed the pool in between: then nobody would ever read what we write
    // here.
    if (__atomic_load_n(&pool->state, __ATOMIC_SEQ_CST) == FATHOM_POOL_OPEN) return segment;
    unclaim(segment, before);
    return nullptr;
  }
  __atomic_store_n(&known(number).offers_in_vain, offers, __ATOMIC_RELAXED);
  return nullptr;
}

// The pool of a segment that is handed over half full has made an offer. Whoever comes next begins
// to look there: children that live one after the other touch one segment, not all of them.
void offer(const fathom_segment* segment) {
  const auto* address = reinterpret_cast<const uint8_t*>(segment);
  const uint32_t count = __atomic_load_n(&pool_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count; i++) {
    fathom_pool_header* pool = __atomic_load_n(&known(i).pool, __ATOMIC_ACQUIRE);
    const auto* begin = reinterpret_cast<const uint8_t*>(pool);
    const auto* end = reinterpret_cast<const uint8_t*>(segment_at(pool, pool->segment_count));
    if (address < begin || address >= end) continue;
    const auto offset = static_cast<size_t>(address - begin) - FATHOM_POOL_HEADER_SIZE;
    __atomic_store_n(&pool->next_hint, static_cast<uint32_t>(offset / FATHOM_SEGMENT_SIZE),
                     __ATOMIC_RELAXED);
    __atomic_fetch_add(&pool->offers, 1, __ATOMIC_RELEASE);
    return;
  }
}

// The newest pool, the one that should be looked at, and one in turn: a look at all of them would
// cost too much when there are a thousand.
fathom_segment* claim_anywhere() {
  const uint32_t count = __atomic_load_n(&pool_count, __ATOMIC_ACQUIRE);
  if (count == 0) return nullptr;
  static constinit uint32_t turn = 0;
  const uint32_t first = __atomic_load_n(&promising, __ATOMIC_RELAXED);
  if (fathom_segment* segment = claim_in(count - 1)) return segment;
  if (first < count - 1) {
    if (fathom_segment* segment = claim_in(first)) return segment;
  }
  return claim_in(__atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED) % count);
}

size_t bytes_of(const fathom_pool_header* pool) {
  return FATHOM_POOL_HEADER_SIZE + static_cast<size_t>(pool->segment_count) * FATHOM_SEGMENT_SIZE;
}

// One maker at a time (buffers are shared); the others wait for it.
constinit uint32_t making = 0;

// A program that is faster than its recorder fills many pools. What it has written stays in the
// page cache; only its own view of the pools before the newest goes, so that its memory does not
// grow with the backlog. A thread that still writes there gets its page back at the next touch.
void drop_views(uint32_t newest) {
  constexpr uint32_t kDropped = 3;  // a thread may take a while to leave its segment
  for (uint32_t i = 1; i <= kDropped && newest >= kResidentPools + i; i++) {
    const fathom_pool_header* pool = known(newest - i).pool;
    raw_syscall(SYS_madvise, as_long(pool), static_cast<long>(bytes_of(pool)), MADV_DONTNEED);
  }
}

// Whether a pool may have room that we have not looked at since. Files that the host has removed
// are let go.
bool some_pool_has_offers() {
  const uint32_t count = __atomic_load_n(&pool_count, __ATOMIC_RELAXED);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t state = __atomic_load_n(&known(i).pool->state, __ATOMIC_ACQUIRE);
    if (state == FATHOM_POOL_REMOVED) unmap_pool(known(i).pool);
    if (state != FATHOM_POOL_OPEN) continue;
    const uint64_t offers = __atomic_load_n(&known(i).pool->offers, __ATOMIC_ACQUIRE) + 1;
    if (__atomic_load_n(&known(i).offers_in_vain, __ATOMIC_RELAXED) == offers) continue;
    __atomic_store_n(&promising, i, __ATOMIC_RELAXED);
    return true;
  }
  return false;
}

// Where the next pool goes: the place of a buried one when the table is full. kMaxPools: nowhere.
uint32_t next_place() {
  const uint32_t count = __atomic_load_n(&pool_count, __ATOMIC_RELAXED);
  if (count < kMaxPools) return count;
  uint32_t place = 0;
  while (place < kMaxPools && known(place).pool->segment_count != 0) place++;
  return place;
}

bool add_pool(fathom_pool_header* pool, uint32_t number, uint32_t place) {
  if (pool == nullptr) return false;
  known(place).number = number;
  __atomic_store_n(&known(place).offers_in_vain, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&known(place).pool, pool, __ATOMIC_RELEASE);
  __atomic_store_n(&promising, place, __ATOMIC_RELAXED);
  if (place < __atomic_load_n(&pool_count, __ATOMIC_RELAXED)) return true;
  __atomic_store_n(&pool_count, place + 1, __ATOMIC_RELEASE);
  drop_views(place);
  return true;
}

// The run's newest pool, if it is new to us.
bool join_newest() {
  const uint32_t count = __atomic_load_n(&pool_count, __ATOMIC_RELAXED);
  const uint32_t number = __atomic_load_n(&run_shared()->newest_pool, __ATOMIC_ACQUIRE);
  const uint32_t place = next_place();
  if (number == 0 || place >= kMaxPools) return false;
  for (uint32_t i = count; i > 0; i--) {
    if (known(i - 1).number == number) return false;
  }
  return add_pool(join_pool_file(number), number, place);
}

bool make_new() {
  const uint32_t place = next_place();
  if (place >= kMaxPools) return false;
  const uint32_t count = __atomic_load_n(&pool_count, __ATOMIC_RELAXED);
  uint32_t segments = count == 0 ? kFirstPool : count < 8 ? kLaterPool : kSteadyPool;
  for (; segments >= kSmallestPool; segments /= 2) {
    uint32_t number = 0;
    fathom_pool_header* const pool = make_pool_file(segments, &number);
    if (add_pool(pool, number, place)) return true;
  }
  // Whoever waits for room loses nothing.
  if (guest.run->when_full != FATHOM_WHEN_FULL_BLOCK)
    __atomic_fetch_add(&guest.run->refused, 1, __ATOMIC_RELAXED);
  return false;
}

bool make_pool_locked() {
  constexpr int kPatience = 1000;  // naps of 200 us
  if (some_pool_has_offers()) return true;
  PoolMakerLock lock;
  for (int naps = 0; naps < kPatience && !lock.attempt(); naps++) {
    if (join_newest()) return true;
    nap(200);
  }
  return join_newest() || make_new();
}

// Whoever was to make room is gone: there is nobody to wait for. One whose pid does not count here
// says every second that it lives.
bool deserted() {
  constexpr uint64_t kLeaseNs = 15'000'000'000;
  if (guest.run->supervised == 0) return false;
  if (guest.space == 0)
    return raw_syscall(SYS_kill, static_cast<long>(guest.run->creator_pid), 0) == -ESRCH;
  const uint64_t beat = __atomic_load_n(&guest.run->heartbeat_ns, __ATOMIC_RELAXED);
  return beat + kLeaseNs < clock_ns(CLOCK_REALTIME);
}

// After a failed attempt, the next ones fail at once for a while: asking the kernel at every event
// would be felt.
constinit uint64_t refused_until = 0;

enum class Making { kMade, kRefused, kBySomebodyElse };

Making try_make_pool() {
  const Quiet quiet;
  const uint64_t now = clock_ns(CLOCK_MONOTONIC_COARSE);
  if (now < __atomic_load_n(&refused_until, __ATOMIC_RELAXED)) return Making::kRefused;
  if (__atomic_exchange_n(&making, 1, __ATOMIC_ACQUIRE) != 0) return Making::kBySomebodyElse;
  const bool made = make_pool_locked();
  if (!made) __atomic_store_n(&refused_until, now + 10000000, __ATOMIC_RELAXED);
  __atomic_store_n(&making, 0, __ATOMIC_RELEASE);
  return made ? Making::kMade : Making::kRefused;
}

bool take_segment();

// Whether there is a segment in tls.cursor now.
bool find_segment() {
  if (is_confined()) return take_segment();
  constexpr int kPatience = 5000;  // naps of 100 us: a file system may take its time
  for (int tries = 0; tries < kPatience; tries++) {
    if (take_segment()) return true;
    const Making making_it = try_make_pool();
    if (making_it == Making::kBySomebodyElse) {
      nap(100);
    } else if (making_it == Making::kRefused) {
      // Another thread may have left a segment between our look and our question.
      if (take_segment()) return true;
      if (guest.run->when_full != FATHOM_WHEN_FULL_BLOCK || deserted()) return false;
      nap(1000);
      tries = 0;
    }
  }
  return false;
}

}  // namespace

void write_switch(unsigned cursor_number) {
  Cursor& cursor = tls.cursor;
  uint8_t* at = cursor.at;
  // A call that has ended waits for this segment: time goes on where the last record left it.
  const uint64_t now = cursor.last_end != 0 ? cursor.last_end : tick();
  const uint16_t head = FATHOM_KIND_SWITCH;
  memcpy(at, &head, 2);
  memcpy(at + 2, &tls.thread->key, 8);
  at = fathom_put_varint(at + 10, static_cast<uint64_t>(tls.thread->outer_pid));
  at = fathom_put_varint(at, static_cast<uint64_t>(tls.thread->outer_tid));
  at = fathom_put_varint(at, tls.thread->ordinal);
  at = fathom_put_varint(at, tls.thread->run++);
  at = fathom_put_varint(at, cursor_number);
  memcpy(at, &now, 8);
  at += 8;
  cursor.last_end = now;
  cursor.last_file = 0;
  cursor.last_stop = 0;
  tls.last_depth = 0;
  forget_sums();
  cursor.at = at;
  store_progress();
  // Afterwards, so that nobody misses a run that a kill prevented.
  if (guest.run != nullptr) __atomic_fetch_add(&run_shared()->runs, 1, __ATOMIC_RELEASE);
}

namespace {

// Claims a segment and begins to write there, in one step for handlers and for children that they
// fork: who owns it is never in doubt.
bool take_segment() {
  const Quiet quiet;
  while (fathom_segment* segment = claim_anywhere()) {
    const auto used = static_cast<uint32_t>(__atomic_load_n(&segment->progress, __ATOMIC_ACQUIRE));
    if (used < FATHOM_SEGMENT_HEADER_SIZE || used > kSegmentLimit) {
      unclaim(segment, FATHOM_SEGMENT_FULL);
      continue;
    }
    tls.cursor.segment = segment;
    tls.cursor.at = reinterpret_cast<uint8_t*>(segment) + used;
    write_switch(tls.level);
    return true;
  }
  return false;
}

}  // namespace

bool make_first_pool() {
  const Quiet quiet;
  return join_newest() || try_make_pool() == Making::kMade;
}

void learn_newest_pool() {
  const uint32_t count = __atomic_load_n(&pool_count, __ATOMIC_ACQUIRE);
  const uint32_t newest = __atomic_load_n(&run_shared()->newest_pool, __ATOMIC_RELAXED);
  static constinit uint32_t tried = 0;
  if (count == 0 || known(count - 1).number == newest || tried == newest) return;
  const Quiet quiet;
  if (__atomic_exchange_n(&making, 1, __ATOMIC_ACQUIRE) != 0) return;
  tried = newest;
  join_newest();
  __atomic_store_n(&making, 0, __ATOMIC_RELEASE);
}

// A thread that makes a pool is waited for as well: it could not end what it has begun.
void make_spare_room() {
  constexpr uint32_t kSpare = 24;  // segments, in the newest pool
  const uint32_t count = __atomic_load_n(&pool_count, __ATOMIC_ACQUIRE);
  uint32_t free = 0;
  for (uint32_t i = 0; count > 0 && i < known(count - 1).pool->segment_count; i++) {
    const fathom_segment* segment = segment_at(known(count - 1).pool, i);
    free += __atomic_load_n(&segment->claim, __ATOMIC_RELAXED) == FATHOM_SEGMENT_FREE ? 1 : 0;
  }
  constexpr int kPatience = 100;
  for (int naps = 0; naps < kPatience; naps++) {
    if (free >= kSpare ? __atomic_load_n(&making, __ATOMIC_ACQUIRE) == 0
                       : try_make_pool() != Making::kBySomebodyElse)
      return;
    nap(1000);
  }
}

void forget_makers() {
  if (making != 0) making = 0;
}

void leave_pool_of(const fathom_segment* segment) {
  const uint32_t count = __atomic_load_n(&pool_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count; i++) {
    fathom_pool_header* pool = __atomic_load_n(&known(i).pool, __ATOMIC_ACQUIRE);
    const auto* const end = reinterpret_cast<const uint8_t*>(segment_at(pool, pool->segment_count));
    const auto* const at = reinterpret_cast<const uint8_t*>(segment);
    if (at >= reinterpret_cast<const uint8_t*>(pool) && at < end) unmap_pool(pool);
  }
}

void release_segment(Cursor& cursor, uint32_t state, int successor) {
  if (cursor.segment == nullptr) return;
  const auto used = static_cast<uint32_t>(cursor.at - reinterpret_cast<uint8_t*>(cursor.segment));
  if (used > kSegmentLimit / 2) state = FATHOM_SEGMENT_FULL;
  fathom_segment* const segment = cursor.segment;
  cursor = {};
  const bool kept = state == FATHOM_SEGMENT_PARTIAL && successor != 0;
  unclaim(segment,
          kept ? fathom_claim(state, static_cast<uint32_t>(successor), tls.thread->space) : state);
  if (state == FATHOM_SEGMENT_PARTIAL) offer(segment);
}

bool reclaim_segment(fathom_segment* segment, uint32_t generation, uint64_t used) {
  uint64_t before = 0;
  if (!claim(segment, FATHOM_SEGMENT_PARTIAL, &before)) return false;
  if (fathom_claim_state(before) == FATHOM_SEGMENT_PARTIAL &&
      __atomic_load_n(&segment->generation, __ATOMIC_RELAXED) == generation &&
      static_cast<uint32_t>(__atomic_load_n(&segment->progress, __ATOMIC_RELAXED)) == used)
    return true;
  unclaim(segment, before);
  return false;
}

// Processes may meet here: what they would mix up differs by the time between two system calls. A
// child that has just been forked leaves it to its parent.
void note_clock() {
  constexpr uint64_t kYoung = 1 << 22;  // ticks: some milliseconds
  constexpr uint64_t kMomentNs = 2000;
  if (guest.run == nullptr || guest.tick_source != FATHOM_TICK_COUNTER || is_confined()) return;
  if (guest.forked != 0 && tick() - guest.forked < kYoung) return;
  const uint64_t before = clock_ns(CLOCK_MONOTONIC);
  const uint64_t counter = tick();
  const uint64_t after = clock_ns(CLOCK_MONOTONIC);
  if (after - before > kMomentNs) return;  // interrupted: the pair before is the better one
  __atomic_store_n(&guest.run->last_tick, 0, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);  // whoever sees the new time sees that
  __atomic_store_n(&guest.run->last_monotonic_ns, before + (after - before) / 2, __ATOMIC_RELAXED);
  __atomic_store_n(&guest.run->last_tick, counter, __ATOMIC_RELEASE);
}

bool acquire_segment() {
  note_clock();
  {
    const Quiet quiet;  // a child that is forked in between must not hand over its parent's
    const uint64_t last_end = tls.cursor.last_end;
    release_segment(tls.cursor, FATHOM_SEGMENT_FULL);
    tls.cursor.last_end = last_end;
  }
  return find_segment();
}

void count_loss(fathom_source source, fathom_loss reason, uint64_t count) {
  if (guest.run != nullptr)
    __atomic_fetch_add(fathom_loss_counter(run_shared(), source, reason), count, __ATOMIC_RELAXED);
}

}  // namespace fathom::guest
