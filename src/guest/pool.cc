// SPDX-License-Identifier: MIT
// Pools and segments: where the room for records comes from (docs/formats/spool.md, "Segments").
//
// A process makes one pool when it attaches, while it may still open files, and later ones only
// when neither it nor the host has a segment left. In steady state the host empties segments as
// fast as threads fill them, and nothing is made at all.
#include "guest/pool.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "guest/attach.h"
#include "guest/broker.h"
#include "guest/quiet.h"
#include "guest/schema.h"
#include "guest/syscalls.h"
#include "guest/text.h"
#include "wire/varint.h"

namespace fathom::guest {

// RLIMIT_FSIZE: a file that would become too large costs the program a SIGXFSZ, so it is asked
// first.
bool allowed_size(size_t bytes) {
  rlimit limit{};
  if (raw_syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, as_long(&limit)) != 0) return true;
  return limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

namespace {

constexpr uint32_t kMaxPools = 1200;
constexpr uint32_t kFirstPool = 16;  // segments
constexpr uint32_t kLaterPool = 32;
constexpr uint32_t kSteadyPool = 128;  // from the eighth pool on
constexpr uint32_t kSmallestPool = 2;
constexpr uint32_t kResidentPools = 8;  // about 7.5 MiB; see drop_views

constinit fathom_pool_header* pools[kMaxPools] = {};
constinit uint32_t pool_count = 0;  // atomic; grows only
constinit uint32_t pool_serial = 0;

fathom_segment* segment_at(fathom_pool_header* pool, uint32_t index) {
  auto* base = reinterpret_cast<uint8_t*>(pool) + FATHOM_POOL_HEADER_SIZE;
  return reinterpret_cast<fathom_segment*>(base + static_cast<size_t>(index) * FATHOM_SEGMENT_SIZE);
}

bool claim(fathom_segment* segment) {
  uint32_t state = __atomic_load_n(&segment->state, __ATOMIC_RELAXED);
  if (state != FATHOM_SEGMENT_FREE && state != FATHOM_SEGMENT_PARTIAL) return false;
  if (!__atomic_compare_exchange_n(&segment->state, &state, FATHOM_SEGMENT_OWNED, false,
                                   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    return false;
  }
  if (state == FATHOM_SEGMENT_FREE)
    __atomic_store_n(&segment->progress, FATHOM_SEGMENT_HEADER_SIZE, __ATOMIC_RELAXED);
  segment->owner_tid = static_cast<uint32_t>(tls.thread->tid);
  __atomic_store_n(&segment->owner_key, guest.process_key, __ATOMIC_RELAXED);
  __atomic_store_n(&segment->owner_pid, static_cast<uint32_t>(guest.pid),
                   __ATOMIC_RELEASE);  // the last: now it has an owner
  return true;
}

// What this process knows of its pools: how many offers each had made when nothing was found there.
// A pool is searched again only when it has made another: a look at every segment's header would
// bring all of their pages back into our memory.
constinit uint64_t offers_in_vain[kMaxPools] = {};  // atomic; 0: never searched in vain

fathom_segment* claim_in(uint32_t number) {
  fathom_pool_header* pool = __atomic_load_n(&pools[number], __ATOMIC_ACQUIRE);
  if (pool == nullptr || __atomic_load_n(&pool->state, __ATOMIC_ACQUIRE) != FATHOM_POOL_OPEN) {
    return nullptr;
  }
  const uint64_t offers = __atomic_load_n(&pool->offers, __ATOMIC_ACQUIRE) + 1;
  if (__atomic_load_n(&offers_in_vain[number], __ATOMIC_RELAXED) == offers) return nullptr;
  const uint32_t count = pool->segment_count;
  const uint32_t hint = __atomic_fetch_add(&pool->next_hint, 1, __ATOMIC_RELAXED);
  for (uint32_t i = 0; i < count; i++) {
    fathom_segment* segment = segment_at(pool, (hint + i) % count);
    if (!claim(segment)) continue;
    // The host may have closed the pool in between: then nobody would ever read what we write
    // here.
    if (__atomic_load_n(&pool->state, __ATOMIC_SEQ_CST) == FATHOM_POOL_OPEN) return segment;
    __atomic_store_n(&segment->state, FATHOM_SEGMENT_FREE, __ATOMIC_RELEASE);
    return nullptr;
  }
  __atomic_store_n(&offers_in_vain[number], offers, __ATOMIC_RELAXED);
  return nullptr;
}

// The pool of a segment that is handed over half full has made an offer.
void offer(const fathom_segment* segment) {
  const auto* address = reinterpret_cast<const uint8_t*>(segment);
  const uint32_t count = __atomic_load_n(&pool_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count; i++) {
    fathom_pool_header* pool = __atomic_load_n(&pools[i], __ATOMIC_ACQUIRE);
    const auto* begin = reinterpret_cast<const uint8_t*>(pool);
    const auto* end = reinterpret_cast<const uint8_t*>(segment_at(pool, pool->segment_count));
    if (address < begin || address >= end) continue;
    __atomic_fetch_add(&pool->offers, 1, __ATOMIC_RELEASE);
    return;
  }
}

// The newest pool, and two of the older ones in turn: a look at all of them would cost too much
// when there are a thousand.
fathom_segment* claim_anywhere() {
  const uint32_t count = __atomic_load_n(&pool_count, __ATOMIC_ACQUIRE);
  static constinit uint32_t turn = 0;
  for (uint32_t tries = 0; tries < 3 && tries < count; tries++) {
    const uint32_t index =
        tries == 0 ? count - 1 : __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED) % count;
    if (fathom_segment* segment = claim_in(index)) return segment;
  }
  return nullptr;
}

// Books room in the run's budget.
bool within_budget(size_t bytes) {
  if (guest.run == nullptr) return true;
  const uint64_t before = __atomic_fetch_add(&guest.run->pool_bytes, bytes, __ATOMIC_RELAXED);
  if (guest.run->spool_max == 0 || before + bytes <= guest.run->spool_max) return true;
  __atomic_fetch_sub(&guest.run->pool_bytes, bytes, __ATOMIC_RELAXED);
  return false;
}

void give_back_budget(size_t bytes) {
  if (guest.run != nullptr) __atomic_fetch_sub(&guest.run->pool_bytes, bytes, __ATOMIC_RELAXED);
}

int open_pool_file(char* path, size_t room) {
  Text name(path, room);
  name.add(guest.out)
      .add("/")
      .add_number(static_cast<uint64_t>(guest.pid))
      .add("-")
      .add_hex(guest.process_key)
      .add("-");
  name.add_number(pool_serial).add(FATHOM_POOL_SUFFIX);
  return sys_openat(AT_FDCWD, path, O_CREAT | O_EXCL | O_RDWR, 0600);
}

// A file of our own, mapped; an error as the kernel tells it where it could not be opened.
void* map_own_file(size_t bytes, long* error) {
  *error = 0;
  if (guest.brokered) {
    *error = -EACCES;
    return nullptr;
  }
  if (!allowed_size(bytes) || !within_budget(bytes)) return nullptr;
  // Not on the stack: it may be tiny.
  static constinit char path[4200];
  const int fd = open_pool_file(path, sizeof path);
  void* at = nullptr;
  // Allocated, not a hole: touching a hole on a full disk is SIGBUS in the program.
  if (fd >= 0 && raw_syscall(SYS_fallocate, fd, 0, 0, static_cast<long>(bytes)) == 0) {
    at = sys_mmap(bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
  }
  if (fd < 0) *error = fd;
  if (fd >= 0) sys_close(fd);
  if (at != nullptr) return at;
  if (fd >= 0) raw_syscall(SYS_unlinkat, AT_FDCWD, as_long(path), 0);
  give_back_budget(bytes);
  return nullptr;
}

void* map_brokered_file(uint32_t segments, size_t bytes) {
  const int fd = brokered_pool(segments, pool_serial);
  if (fd < 0) return nullptr;
  void* at = sys_mmap(bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
  sys_close(fd);
  return at;
}

fathom_pool_header* map_pool(uint32_t segments) {
  const size_t bytes =
      FATHOM_POOL_HEADER_SIZE + static_cast<size_t>(segments) * FATHOM_SEGMENT_SIZE;
  pool_serial++;
  long error = 0;
  void* at = map_own_file(bytes, &error);
  if (is_out_of_reach(error)) at = map_brokered_file(segments, bytes);
  if (at == nullptr && error == -ENOENT && remake_spool()) at = map_own_file(bytes, &error);
  if (at == nullptr) return nullptr;
  raw_syscall(SYS_madvise, as_long(at), static_cast<long>(bytes), MADV_DONTDUMP);
  auto* pool = static_cast<fathom_pool_header*>(at);
  pool->version = FATHOM_WIRE_VERSION;
  pool->segment_size = FATHOM_SEGMENT_SIZE;
  pool->segment_count = segments;
  pool->schema_hash = schema_hash();
  if (guest.run != nullptr) memcpy(pool->run_id, guest.run->run_id, sizeof pool->run_id);
  pool->creator_key = guest.process_key;
  pool->creator_pid = static_cast<uint32_t>(guest.pid);
  pool->state = FATHOM_POOL_OPEN;
  __atomic_store_n(&pool->magic, FATHOM_POOL_MAGIC, __ATOMIC_RELEASE);
  return pool;
}

// One maker at a time (the path buffer is shared); the others wait for it.
constinit uint32_t making = 0;

// A program that is faster than its recorder fills many pools. What it has written stays in the
// page cache; only its own view of the pools before the newest goes, so that its memory does not
// grow with the backlog. A thread that still writes there gets its page back at the next touch.
void drop_views(uint32_t newest) {
  constexpr uint32_t kDropped = 3;  // a thread may take a while to leave its segment
  for (uint32_t i = 1; i <= kDropped && newest >= kResidentPools + i; i++) {
    fathom_pool_header* pool = pools[newest - i];
    const size_t bytes = static_cast<size_t>(pool->segment_count) * FATHOM_SEGMENT_SIZE;
    raw_syscall(SYS_madvise, as_long(segment_at(pool, 0)), static_cast<long>(bytes), MADV_DONTNEED);
  }
}

bool make_pool_locked() {
  const uint32_t count = __atomic_load_n(&pool_count, __ATOMIC_RELAXED);
  if (count >= kMaxPools) return false;
  uint32_t segments = count == 0 ? kFirstPool : count < 8 ? kLaterPool : kSteadyPool;
  for (; segments >= kSmallestPool; segments /= 2) {
    fathom_pool_header* pool = map_pool(segments);
    if (pool == nullptr) continue;
    __atomic_store_n(&pools[count], pool, __ATOMIC_RELEASE);
    __atomic_store_n(&pool_count, count + 1, __ATOMIC_RELEASE);
    drop_views(count);
    return true;
  }
  if (guest.run != nullptr) __atomic_fetch_add(&guest.run->refused, 1, __ATOMIC_RELAXED);
  return false;
}

// Whoever was to make room is gone: there is nobody to wait for.
bool deserted() {
  return guest.run->supervised != 0 &&
         raw_syscall(SYS_kill, static_cast<long>(guest.run->creator_pid), 0) == -ESRCH;
}

void nap(long microseconds) {
  const timespec time{0, microseconds * 1000};
  raw_syscall(SYS_nanosleep, as_long(&time), 0);
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
  for (int naps = 0; naps < kPatience;) {
    if (take_segment()) return true;
    const Making making_it = try_make_pool();
    if (making_it == Making::kBySomebodyElse) {
      nap(100);
      naps++;
    } else if (making_it == Making::kRefused) {
      // Another thread may have left a segment between our look and our question.
      if (take_segment()) return true;
      const bool waits = guest.run != nullptr && guest.run->when_full == FATHOM_WHEN_FULL_BLOCK;
      if (!waits || deserted()) return false;
      nap(1000);
    }
  }
  return false;
}

void write_switch() {
  Cursor& cursor = tls.cursor;
  uint8_t* at = cursor.at;
  // A call that has ended waits for this segment: time goes on where the last record left it.
  const uint64_t now = cursor.last_end != 0 ? cursor.last_end : tick();
  const uint16_t head = FATHOM_KIND_SWITCH;
  memcpy(at, &head, 2);
  memcpy(at + 2, &guest.process_key, 8);
  at = fathom_put_varint(at + 10, static_cast<uint64_t>(guest.pid));
  at = fathom_put_varint(at, static_cast<uint64_t>(tls.thread->tid));
  at = fathom_put_varint(at, tls.thread->ordinal);
  at = fathom_put_varint(at, tls.thread->run++);
  at = fathom_put_varint(at, tls.level);
  memcpy(at, &now, 8);
  at += 8;
  cursor.last_end = now;
  cursor.last_file = 0;
  cursor.last_stop = 0;
  tls.last_depth = 0;
  forget_sums();
  cursor.at = at;
  store_progress();
}

// Claims a segment and begins to write there, in one step for handlers and for children that they
// fork: who owns it is never in doubt.
bool take_segment() {
  const Quiet quiet;
  while (fathom_segment* segment = claim_anywhere()) {
    const auto used = static_cast<uint32_t>(__atomic_load_n(&segment->progress, __ATOMIC_ACQUIRE));
    if (used < FATHOM_SEGMENT_HEADER_SIZE || used > kSegmentLimit) {
      __atomic_store_n(&segment->state, FATHOM_SEGMENT_FULL, __ATOMIC_RELEASE);
      continue;
    }
    tls.cursor.segment = segment;
    tls.cursor.at = reinterpret_cast<uint8_t*>(segment) + used;
    write_switch();
    return true;
  }
  return false;
}

}  // namespace

bool make_first_pool() { return try_make_pool() == Making::kMade; }

// A thread that makes a pool is waited for as well: it could not end what it has begun.
void make_spare_room() {
  constexpr uint32_t kSpare = 24;  // segments, in the newest pool
  const uint32_t count = __atomic_load_n(&pool_count, __ATOMIC_ACQUIRE);
  uint32_t free = 0;
  for (uint32_t i = 0; count > 0 && i < pools[count - 1]->segment_count; i++) {
    const fathom_segment* segment = segment_at(pools[count - 1], i);
    free += __atomic_load_n(&segment->state, __ATOMIC_RELAXED) == FATHOM_SEGMENT_FREE ? 1 : 0;
  }
  constexpr int kPatience = 100;
  for (int naps = 0; naps < kPatience; naps++) {
    if (free >= kSpare ? __atomic_load_n(&making, __ATOMIC_ACQUIRE) == 0
                       : try_make_pool() != Making::kBySomebodyElse)
      return;
    nap(1000);
  }
}

void forget_makers() { making = 0; }

void release_segment(Cursor& cursor, uint32_t state) {
  if (cursor.segment == nullptr) return;
  const auto used = static_cast<uint32_t>(cursor.at - reinterpret_cast<uint8_t*>(cursor.segment));
  if (used > kSegmentLimit / 2) state = FATHOM_SEGMENT_FULL;
  // Nobody's, so that the host does not take the next owner for one that is dead.
  if (state == FATHOM_SEGMENT_PARTIAL)
    __atomic_store_n(&cursor.segment->owner_pid, 0, __ATOMIC_RELAXED);
  fathom_segment* const segment = cursor.segment;
  cursor = {};
  __atomic_store_n(&segment->state, state, __ATOMIC_RELEASE);
  if (state == FATHOM_SEGMENT_PARTIAL) offer(segment);
}

// Processes may meet here: what they would mix up differs by the time between two system calls.
void note_clock() {
  if (guest.run == nullptr || guest.tick_source != FATHOM_TICK_COUNTER || is_confined()) return;
  __atomic_store_n(&guest.run->last_tick, 0, __ATOMIC_RELEASE);
  const uint64_t now = clock_ns(CLOCK_MONOTONIC);
  const uint64_t counter = tick();
  __atomic_store_n(&guest.run->last_monotonic_ns, now, __ATOMIC_RELAXED);
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
  const uint32_t made = __atomic_load_n(&pool_count, __ATOMIC_ACQUIRE);
  if (made > 0) {
    __atomic_fetch_add(fathom_loss_counter(pools[0], source, reason), count, __ATOMIC_RELAXED);
  } else if (guest.run != nullptr) {
    __atomic_fetch_add(&guest.run->refused, count, __ATOMIC_RELAXED);
  }
}

}  // namespace fathom::guest
