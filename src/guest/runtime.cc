// SPDX-License-Identifier: MIT
// Threads: their blocks, their cursors, nesting in signal handlers, and their end. A thread is met
// at its first record and not at its birth, since threads are made in many ways; its end comes by a
// destructor of libc's, behind which further records may come.
#include "guest/runtime.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "guest/confinement.h"
#include "guest/loaded.h"
#include "guest/namespaces.h"
#include "guest/pool.h"
#include "guest/pool_file.h"
#include "guest/quiet.h"
#include "guest/records.h"
#include "guest/syscalls.h"
#include "guest/threads.h"

namespace fathom::guest {

namespace {

// Before glibc 2.34 these are in a library that only programs with threads have.
struct KeyCalls {
  int (*create)(pthread_key_t* key, void (*destructor)(void*));
  int (*remove)(pthread_key_t key);
  int (*set)(pthread_key_t key, const void* value);
};
constinit KeyCalls key_calls = {};
constinit pthread_key_t exit_key = 0;
constinit bool exit_key_made = false;

template <class Function>
bool find_call(Function& function, const char* name) {
  function = reinterpret_cast<Function>(find_behind_us(name));
  return function != nullptr;
}

bool find_key_calls() {
  if (key_calls.set != nullptr) return true;
  return find_call(key_calls.create, "pthread_key_create") &&
         find_call(key_calls.remove, "pthread_key_delete") &&
         find_call(key_calls.set, "pthread_setspecific");
}

// Thread blocks come from mappings of our own and are reused; both lists are short and touched once
// in a thread's life.
constinit Thread* free_threads = nullptr;
constinit uint32_t free_lock = 0;

// All blocks, sixteen at a time; of more threads than fit here the last ones are not waited for.
constexpr size_t kBlocks = 16;
constexpr uint32_t kMostGroups = 1024;
constinit Thread* groups[kMostGroups] = {};
constinit uint32_t group_count = 0;  // atomic

bool lock_free_list() {
  for (int tries = 0; tries < 1000; tries++) {
    if (__atomic_exchange_n(&free_lock, 1, __ATOMIC_ACQUIRE) == 0) return true;
    raw_syscall(SYS_sched_yield);
  }
  return false;  // somebody was stopped while holding it: do without
}
void unlock_free_list() { __atomic_store_n(&free_lock, 0, __ATOMIC_RELEASE); }

// Memory that no thread has had yet. It is cut off block by block: to list the blocks would touch
// pages that most programs never need. The first thread's lies beside our variables (start.ld): in
// a page that a short program, and a forked child, touches anyway.
constinit Thread first_block = {};
constinit Thread* fresh = &first_block;
constinit Thread* fresh_end = &first_block + 1;

Thread* map_threads() {
  auto* blocks = static_cast<Thread*>(
      sys_mmap(kBlocks * sizeof(Thread), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
  if (blocks == nullptr) return nullptr;
  // Written before it is read: else the page is faulted in twice.
  __atomic_store_n(&blocks->next_free, nullptr, __ATOMIC_RELAXED);
  const uint32_t group = __atomic_fetch_add(&group_count, 1, __ATOMIC_RELAXED);
  if (group < kMostGroups) __atomic_store_n(&groups[group], blocks, __ATOMIC_RELEASE);
  if (lock_free_list()) {
    fresh = blocks + 1;
    fresh_end = blocks + kBlocks;
    unlock_free_list();
  }
  return blocks;
}

Thread* take_thread_block() {
  if (lock_free_list()) {
    Thread* block = free_threads;
    if (block != nullptr) {
      free_threads = block->next_free;
    } else if (fresh != fresh_end) {
      block = fresh++;
    }
    unlock_free_list();
    if (block != nullptr) return block;
  }
  return map_threads();
}

void give_thread_block(Thread* block) {
  if (!lock_free_list()) return;
  block->next_free = free_threads;
  free_threads = block;
  unlock_free_list();
}

// Other destructors of the thread free memory, and some only in a later round: where that is
// counted, the thread is left in the last. What libc frees of it afterwards is not the program's.
void thread_exits(void* block) {
  if (block != tls.thread) return;
  const bool counts = guest.wanted[FATHOM_SOURCE_HEAP] != 0;
  if (counts && ++tls.thread->farewells < PTHREAD_DESTRUCTOR_ITERATIONS) {
    key_calls.set(exit_key, block);
    return;
  }
  leave_thread();
  tls.outside = counts ? 1 : 0;
}

// A thread has had it before.
void wipe(Thread& block) {
  FunctionStack* functions = block.functions;  // kept: it is memory of ours
  FrameStack* frames = block.frames;
  RangeStack* ranges = block.ranges;
  RegionCounts* counts = block.region_counts;
  memset(&block, 0, sizeof block);
  block.functions = functions;
  block.frames = frames;
  block.ranges = ranges;
  block.region_counts = counts;
}

void identify(Thread& block) {
  block.key = guest.process_key;
  block.pid = guest.pid;
  block.space = guest.space;
  block.tid = own_tid();
  block.outer_pid = block.pid;
  block.outer_tid = block.tid;
  if (FATHOM_UNLIKELY(guest.space != 0)) learn_outer_numbers(block);
}

uint32_t next_ordinal() { return __atomic_fetch_add(&guest.next_thread, 1, __ATOMIC_RELAXED); }

// Destructors of others may call something behind ours, and the thread is the same then. What it
// was is kept where a cursor without a segment has nothing.
void remember(const Identity& left) {
  tls.cursor.last_file = UINT64_C(1) + left.ordinal;
  tls.cursor.last_stop = left.run;
}
bool is_remembered() { return tls.cursor.last_file != 0; }

void number_thread(Thread& block) {
  const bool again = is_remembered();
  block.ordinal = again ? static_cast<uint32_t>(tls.cursor.last_file - 1) : next_ordinal();
  block.run = again ? static_cast<uint32_t>(tls.cursor.last_stop) : 0;
  tls.cursor.last_file = 0;
  tls.cursor.last_stop = 0;
}

void write_thread_name() {
  char name[16] = {};
  if (raw_syscall(SYS_prctl, PR_GET_NAME, as_long(name)) == 0)
    write_id(FATHOM_KIND_THREAD_NAME, intern_text(name, strlen(name)));
}

}  // namespace

__thread Tls tls __attribute__((tls_model("initial-exec"))) = {};
constinit Live nothing_on = {};
alignas(kLarge) constinit char spool_room[kSpoolRoom] = {};
constinit Guest guest = {};

uint64_t slow_tick() {
  const uint64_t ns = clock_ns(CLOCK_MONOTONIC);
  return guest.tick_source == kTickConverted ? converted_tick(ns) : ns;
}

void make_spare_threads() {
  size_t spare = 0;
  if (!lock_free_list()) return;
  for (; fresh != fresh_end; fresh++) {
    fresh->next_free = free_threads;
    free_threads = fresh;
  }
  for (const Thread* block = free_threads; block != nullptr; block = block->next_free) spare++;
  unlock_free_list();
  if (spare >= kBlocks) return;
  if (Thread* block = map_threads()) give_thread_block(block);
}

bool others_are_calling() {
  if (&first_block != tls.thread && first_block.calls != 0) return true;
  const uint32_t count = __atomic_load_n(&group_count, __ATOMIC_ACQUIRE);
  for (uint32_t group = 0; group < count && group < kMostGroups; group++) {
    const Thread* blocks = __atomic_load_n(&groups[group], __ATOMIC_ACQUIRE);
    for (size_t i = 0; blocks != nullptr && i < kBlocks; i++) {
      if (&blocks[i] != tls.thread && blocks[i].calls != 0) return true;
    }
  }
  return false;
}

// The key's destructor tells the end of a thread. Keys from 32 on would make pthread_setspecific
// allocate from the program's heap.
void prepare_threads() {
  if (exit_key_made || !find_key_calls() || key_calls.create(&exit_key, thread_exits) != 0) return;
  exit_key_made = exit_key < 32;
  if (!exit_key_made) key_calls.remove(exit_key);
}

void first_record_of_thread() {
  const Quiet quiet;
  if (tls.thread != nullptr) return;
  const int tid = own_tid();
  if (tid == 0) return;
  Thread* block = take_thread_block();
  if (block == nullptr) return;
  if (block->key != 0) wipe(*block);
  identify(*block);
  number_thread(*block);
  tls.thread = block;
  prepare_threads();
  if (exit_key_made) key_calls.set(exit_key, block);
}

namespace {

// A writer that was interrupted by a handler which forked goes on in the child, too, and must not
// touch the parent's segment: at its place lies memory of the child's own from now on, which nobody
// claims, and the cursor has no room for another record.
void cut_off(Cursor& cursor) {
  static constinit fathom_segment nowhere = {};
  if (cursor.segment == nullptr) return;
  // Segments share larger pages with their neighbours: all of the pool goes.
  if (page_size() > FATHOM_POOL_HEADER_SIZE) {
    leave_pool_of(cursor.segment);
    cursor.segment = &nowhere;
    return;
  }
  const long at =
      raw_syscall(SYS_mmap, as_long(cursor.segment), FATHOM_SEGMENT_SIZE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (at == as_long(cursor.segment)) cursor.segment->claim = FATHOM_SEGMENT_OWNED;
  cursor.segment = &nowhere;
}

}  // namespace

void inherit_thread() {
  Thread* block = tls.thread;
  if (tls.writing != 0) {
    cut_off(tls.cursor);
  } else {
    tls.cursor = {};
  }
  if (block == nullptr) return;
  for (unsigned level = 0; level < tls.level; level++) cut_off(block->interrupted[level].cursor);
  for (Thread::Aside& aside : block->nested) aside = {};
  identify(*block);
  block->ordinal = next_ordinal();
  block->run = 0;
}

void forget_other_threads() {
  if (free_lock != 0) free_lock = 0;
}

void leave_segments() {
  const Quiet quiet;
  if (tls.thread == nullptr || tls.writing != 0 || tls.level != 0) return;
  release_segment(tls.cursor, FATHOM_SEGMENT_PARTIAL);
  for (Thread::Aside& aside : tls.thread->nested)
    release_segment(aside.cursor, FATHOM_SEGMENT_PARTIAL);
}

void leave_thread() {
  const Quiet quiet;
  Thread* block = tls.thread;
  if (block == nullptr) return;
  if (guest.live->on[FATHOM_SOURCE_RUNTIME] && (tls.cursor.segment != nullptr || block->told)) {
    if (block->ordinal != 0) write_thread_name();
    write_timed(FATHOM_KIND_THREAD_END);
  }
  tls.outside = 1;
  leave_segments();
  if (exit_key_made) key_calls.set(exit_key, nullptr);
  tls = {};
  remember(*block);
  give_thread_block(block);
}

namespace {

// The stack for handlers that this thread is on now; empty if it is on its usual one.
struct HandlerStack {
  uintptr_t begin = 0, size = 0;

  HandlerStack() {
    stack_t stack{};
    if (raw_syscall(SYS_sigaltstack, 0, as_long(&stack)) != 0 || (stack.ss_flags & SS_ONSTACK) == 0)
      return;
    begin = reinterpret_cast<uintptr_t>(stack.ss_sp);
    size = stack.ss_size;
  }
  [[nodiscard]] bool holds(uintptr_t address) const { return address - begin < size; }
};

// Where it cannot be asked, a writer that is interrupted is taken for one that goes on: its record
// stays whole, and if it was left by longjmp the thread writes through another cursor from now on.
bool on_alternate_stack() { return is_confined() || HandlerStack().size != 0; }

void set_aside(Thread::Aside& to) { to = {tls.cursor, tls.writing, tls.last_depth}; }

void take_back(const Thread::Aside& from) {
  tls.cursor = from.cursor;
  tls.writing = from.writing;
  tls.last_depth = from.last_depth;
}

// Another handler may come between any two steps here and in enter_nested: it finds a level above
// the ones in use, and leaves everything as it found it.
void leave_level() {
  const unsigned level = tls.level;
  set_aside(tls.thread->nested[level - 1]);
  take_back(tls.thread->interrupted[level - 1]);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  tls.level = static_cast<uint8_t>(level - 1);
}

// Leaves a level that longjmp left behind. It may have been in the midst of an exchange: then what
// stands in tls is not the level's own, or only half of it.
void abandon_level() {
  const Cursor& cursor = tls.cursor;
  const Cursor& below = tls.thread->interrupted[tls.level - 1].cursor;
  const auto used = static_cast<uintptr_t>(cursor.at - reinterpret_cast<uint8_t*>(cursor.segment));
  if (cursor.segment == below.segment || used > FATHOM_SEGMENT_SIZE) tls.cursor = {};
  leave_level();
}

}  // namespace

// On a handler's own stack only frames of that stack can be compared with ours; those of the stack
// that was interrupted are open.
uint8_t levels_below(uintptr_t frame) {
  const HandlerStack stack;
  const uintptr_t* frames = tls.thread->open_frames;
  uint8_t depth = tls.depth;
  while (depth > 0 && frames[depth - 1] <= frame &&
         (stack.size == 0 || stack.holds(frames[depth - 1])))
    depth--;
  return depth;
}

// A handler came while this thread was writing a record. A writer whose frame lies below ours was
// left behind by longjmp, unless we are on a handler's own stack, where addresses tell nothing.
bool Writer::enter_nested(uintptr_t frame, fathom_source source, bool* nested) {
  if (!on_alternate_stack()) {
    while (tls.writing != 0 && tls.writing <= frame && tls.level > 0) abandon_level();
    if (tls.writing <= frame) {
      tls.writing = frame;
      return true;
    }
  }
  if (tls.level + 1 >= kCursors || tls.thread == nullptr) {
    count_loss(source, FATHOM_LOSS_NESTED);
    return false;
  }
  const unsigned level = tls.level;
  tls.level = static_cast<uint8_t>(level + 1);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  set_aside(tls.thread->interrupted[level]);
  take_back(tls.thread->nested[level]);
  tls.writing = frame;
  *nested = true;
  return true;
}

// A writer that found no room has set tls.writing and has no segment; one that found no cursor has
// taken nothing, and the segment is that of the writer which it interrupted.
void Writer::leave(bool nested, bool ok) {
  if (nested) {
    leave_level();
  } else if (ok || tls.cursor.segment == nullptr) {
    tls.writing = 0;
  }
}

namespace {

void count_no_room(fathom_source source) {
  count_loss(source, is_confined()          ? FATHOM_LOSS_CONFINED
                     : limit_refused_pool() ? FATHOM_LOSS_FILE_LIMIT
                                            : FATHOM_LOSS_NO_ROOM);
}

}  // namespace

bool Writer::refill(fathom_source source) {
  if (FATHOM_UNLIKELY(tls.thread == nullptr)) first_record_of_thread();
  if (tls.thread != nullptr && acquire_segment()) return true;
  count_no_room(source);
  return false;
}

uint8_t* room_for(Writer& writer, size_t bytes, fathom_source source) {
  if (!writer.ok()) return nullptr;
  // A fresh segment may be somebody else's half full one; the third is as good as none.
  for (int tries = 0; tries < 3; tries++) {
    const auto used =
        static_cast<size_t>(tls.cursor.at - reinterpret_cast<uint8_t*>(tls.cursor.segment));
    if (used + bytes + kRecordRoom <= FATHOM_SEGMENT_SIZE) return tls.cursor.at;
    if (!acquire_segment()) break;
  }
  count_no_room(source);
  return nullptr;
}

}  // namespace fathom::guest
