// SPDX-License-Identifier: MIT
// Bookkeeping for lodgers (children of vfork) and strangers (clone with CLONE_VM). Both run on our
// memory, so nothing here may trust `tls` before it knows who calls.
#include "guest/sharing.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "guest/attach.h"
#include "guest/call.h"
#include "guest/confinement.h"
#include "guest/descriptors.h"
#include "guest/namespaces.h"
#include "guest/pool.h"
#include "guest/process.h"
#include "guest/quiet.h"
#include "guest/records.h"
#include "guest/scratch.h"
#include "guest/syscalls.h"

namespace fathom::guest {
namespace {

constexpr uint32_t kAllIds = UINT32_MAX;  // a child that shares memory knows all names

uint64_t key_of(int pid) { return (tick() << 22) | static_cast<uint64_t>(pid); }

// --- lodgers

// The segment of a child that has ended or become a program. The host may have taken it already.
void take_back_segment(Cursor& cursor, const Identity& child) {
  if (cursor.segment == nullptr) return;
  uint64_t word = owned_by(child);
  const uint64_t ours =
      fathom_claim(FATHOM_SEGMENT_OWNED, static_cast<uint32_t>(guest.pid), guest.space);
  if (__atomic_compare_exchange_n(&cursor.segment->claim, &word, ours, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_RELAXED)) {
    release_segment(cursor, FATHOM_SEGMENT_PARTIAL);
  }
  cursor = {};
}

// The thread's block and its thread-local state are put aside as they are: the child writes over
// both, and the parent, which waits, goes on with what it had.
void move_in(Thread& block) {
  Thread::Lodging& lodging = block.lodging;
  const int pid = sys_getpid();
  lodging.host = block;
  lodging.tls = tls;
  memcpy(lodging.nested, block.nested, sizeof block.nested);
  memset(block.nested, 0, sizeof block.nested);
  static_cast<Identity&>(block) = {key_of(pid), pid, pid, 0, 0, space_of_child(sys_getppid()),
                                   pid,         pid};
  tls.cursor = {};
  tls.writing = 0;
  tls.depth = tls.last_depth = tls.level = 0;
  lodging.moved = false;
  lodging.on = true;
}

// In the parent again: the child has ended or is another program, and its segments are handed on
// for it.
void move_out(Thread& block) {
  Thread::Lodging& lodging = block.lodging;
  const Identity child = block;
  take_back_segment(tls.cursor, child);
  for (Thread::Aside& aside : block.nested) take_back_segment(aside.cursor, child);
  memcpy(block.nested, lodging.nested, sizeof block.nested);
  static_cast<Identity&>(block) = lodging.host;
  tls = lodging.tls;
  lodging.on = false;
}

struct Start {
  CloneMain function;
  void* argument;
};

int lodger_main(void* start) {
  const Start own = *static_cast<Start*>(start);
  vfork_child();
  const int status = own.function(own.argument);
  if (is_lodger()) write_process_end(status, true);
  return status;
}

// --- strangers

struct Stranger {
  uint32_t taken;   // atomic
  uint32_t shares;  // atomic; the kernel stores 0 when it ends or becomes a program
  int tid;          // atomic; 0: it has not begun
  bool told;        // the kernel does so; else it is asked
  bool foreign;     // with thread-local storage of its own
  bool thread;      // of ours
  uint32_t passed;  // atomic: calls
  Start start;
};
// A fixed table: nothing may be allocated here. A child without a place in it is one whose end
// nobody tells.
constexpr int kStrangers = 16;
constinit Stranger strangers[kStrangers] = {};
constinit uint32_t strangers_met = 0;     // atomic; 0: the table was never touched
constinit uint32_t unseen_strangers = 0;  // atomic: whose end nobody tells
constinit uint32_t watch_lock = 0;

// Not for ever: the holder may be a child that was killed.
bool lock_watch() {
  for (int tries = 0; tries < 1000; tries++) {
    if (__atomic_exchange_n(&watch_lock, 1, __ATOMIC_ACQUIRE) == 0) return true;
    raw_syscall(SYS_sched_yield);
  }
  return false;
}
void unlock_watch() { __atomic_store_n(&watch_lock, 0, __ATOMIC_RELEASE); }

bool ended(const Stranger& stranger) {
  if (__atomic_load_n(&stranger.shares, __ATOMIC_ACQUIRE) == 0) return true;
  const int tid = __atomic_load_n(&stranger.tid, __ATOMIC_RELAXED);
  return !stranger.told && tid != 0 && raw_syscall(SYS_kill, tid, 0) == -ESRCH;
}

// From now on every hook asks who calls. The barrier comes before the child is made: it must find
// the switches off.
void watch() {
  guest.live->alive = kWatched;
  for (uint8_t& on : guest.live->on) __atomic_store_n(&on, 0, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

// Hooks are as quick as before once no stranger is left.
void watch_while_needed() {
  if (!lock_watch()) return;
  bool needed = __atomic_load_n(&unseen_strangers, __ATOMIC_RELAXED) != 0;
  for (Stranger& stranger : strangers) {
    if (__atomic_load_n(&stranger.taken, __ATOMIC_ACQUIRE) == 0) continue;
    if (ended(stranger)) {
      __atomic_store_n(&stranger.taken, 0, __ATOMIC_RELEASE);
    } else {
      needed = true;
    }
  }
  if (needed) {
    watch();
  } else if (guest.live->alive == kWatched) {
    switch_on();
  }
  unlock_watch();
}

Stranger* await_stranger(CloneMain function, void* argument, int flags) {
  Stranger* slot = nullptr;
  for (Stranger& stranger : strangers) {
    __atomic_store_n(&strangers_met, 1, __ATOMIC_RELAXED);
    if (__atomic_exchange_n(&stranger.taken, 1, __ATOMIC_ACQUIRE) != 0) continue;
    slot = &stranger;
    break;
  }
  if (slot == nullptr) {
    expect_stranger();
    return nullptr;
  }
  slot->shares = 1;
  slot->tid = 0;
  // The kernel stores 0 at an address when the child ends, unless the program wants that for
  // itself.
  slot->told = (flags & (CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID)) == 0;
  slot->foreign = (flags & CLONE_SETTLS) != 0;
  slot->thread = (flags & CLONE_THREAD) != 0;
  slot->passed = 0;
  slot->start = {function, argument};
  watch_while_needed();
  return slot;
}

Stranger* stranger_of(int tid) {
  for (Stranger& stranger : strangers) {
    if (__atomic_load_n(&stranger.taken, __ATOMIC_ACQUIRE) != 0 &&
        __atomic_load_n(&stranger.tid, __ATOMIC_RELAXED) == tid)
      return &stranger;
  }
  return nullptr;
}

// The first thing that it does; nothing here may look at `tls`.
int stranger_main(void* slot) {
  auto* stranger = static_cast<Stranger*>(slot);
  __atomic_store_n(&stranger->tid, sys_gettid(), __ATOMIC_RELEASE);
  return stranger->start.function(stranger->start.argument);
}

// Calls of a child with thread-local storage of its own are no losses of the program that made it
// to be let alone; that there were some is told. Others' are counted one by one.
void pass(fathom_source source) {
  if (guest.wanted[source] == 0) return;
  Stranger* stranger = stranger_of(sys_gettid());
  if (stranger != nullptr && stranger->foreign) {
    __atomic_fetch_add(&stranger->passed, 1, __ATOMIC_RELAXED);
  } else {
    count_loss(source, FATHOM_LOSS_SHARED_MEMORY);
  }
}

// A child that cannot speak for itself.
void write_child(int child, uint64_t began, bool silent) {
  constexpr char kWhy[] =
      "a child that shares its parent's memory has thread-local storage of its own";
  const uint32_t layer = silent ? intern_text("partial:posix", 13) : 0;
  const uint32_t why = silent ? intern_text(kWhy, sizeof kWhy - 1) : 0;
  Writer writer(FATHOM_SOURCE_RUNTIME);
  if (!writer.ok()) return;
  const Quiet quiet;
  Thread& block = *tls.thread;
  const Identity own = block;
  static_cast<Identity&>(block) = {key_of(child), child, child, 0, 0, guest.space, child, child};
  write_switch(0);
  uint8_t* at =
      put_process(tls.cursor.at, own.key, child, own.pid, kAllIds, began, FATHOM_ATTACH_SHARES);
  if (layer != 0)
    at = fathom_put_varint(fathom_put_varint(put_head(at, FATHOM_KIND_META), layer), why);
  writer.commit(at);
  static_cast<Identity&>(block) = own;
  write_switch(tls.level);
}

// Whatever it did to what it shared with us.
void mend_after(int flags) {
  if ((flags & CLONE_FILES) != 0) descriptors_close(0, ~0u);
  if ((flags & CLONE_FS) != 0) directory_changed();
}

int clone_lodger(CloneCall call, Start start, void* stack, int flags, void* a, void* b, void* c) {
  vfork_begins();
  const int child = call(lodger_main, stack, flags, &start, a, b, c);
  vfork_is_over();
  if (child > 0) mend_after(flags);
  return child;
}

int clone_stranger(CloneCall call, Start start, void* stack, int flags, void* a, void* b, void* c) {
  const uint64_t began = tick();
  Stranger* slot = await_stranger(start.function, start.argument, flags);
  if (slot == nullptr) return call(start.function, stack, flags, start.argument, a, b, c);
  const bool waits = (flags & CLONE_VFORK) != 0;
  const int child = slot->told ? call(stranger_main, stack, flags | CLONE_CHILD_CLEARTID, slot, a,
                                      b, &slot->shares)
                               : call(stranger_main, stack, flags, slot, a, b, c);
  const bool silent = waits && __atomic_load_n(&slot->passed, __ATOMIC_RELAXED) != 0;
  const int error = errno;
  if (child < 0 || waits) __atomic_store_n(&slot->shares, 0, __ATOMIC_RELEASE);
  watch_while_needed();
  if (child > 0 && in_program()) {
    mend_after(flags);
    if ((flags & CLONE_THREAD) == 0) write_child(child, began, silent);
  }
  errno = error;
  return child;
}

// A thread by hand, with all that libc's threads have, is a thread.
bool is_libc_thread(int flags, [[maybe_unused]] const void* storage) {
  if ((flags & CLONE_THREAD) == 0 || (flags & CLONE_SETTLS) == 0) return false;
#if defined(__x86_64__)
  const void* words[3] = {};  // its control block begins with its own address, and has it again
  return sys_copy_own(words, storage, sizeof words) == sizeof words && words[0] == storage &&
         words[2] == storage;
#else
  return false;
#endif
}

}  // namespace

void vfork_begins() {
  if (in_program()) {
    prepare_fork();
    if (tls.thread != nullptr) tls.thread->lodging.begin = tick();
  }
  tls.outside++;
  tls.vforks++;
}

void vfork_child() {
  Thread* const block = tls.thread;
  if (tls.vforks != 1 || tls.outside != 1 || block == nullptr || !guest.attached ||
      guest.live->alive == 0 || is_confined())
    return;
  const Quiet quiet;
  move_in(*block);
  if (block->space != 0) learn_outer_numbers(*block);
  write_process(block->lodging.host.key, kAllIds, FATHOM_ATTACH_SHARES, block->lodging.host.pid);
  if (block->space != 0) write_namespace();
}

void vfork_is_over() {
  if (guest.confined_by_child) unconfine();
  Thread* const block = tls.thread;
  if (tls.vforks == 1 && block != nullptr && block->lodging.on) {
    const Quiet quiet;
    move_out(*block);
  }
  tls.vforks--;
  tls.outside--;
}

uint64_t vfork_began() { return tls.thread != nullptr ? tls.thread->lodging.begin : tick(); }

int clone_with_memory(CloneCall call, CloneMain function, void* stack, int flags, void* argument,
                      void* a, void* b, void* c) {
  const bool apart = guest.live->alive == 0 || !guest.attached || function == nullptr;
  if (apart || is_libc_thread(flags, b)) return call(function, stack, flags, argument, a, b, c);
  const bool waits = (flags & (CLONE_VFORK | CLONE_SETTLS | CLONE_THREAD)) == CLONE_VFORK;
  return waits && in_program() ? clone_lodger(call, {function, argument}, stack, flags, a, b, c)
                               : clone_stranger(call, {function, argument}, stack, flags, a, b, c);
}

void expect_stranger() {
  __atomic_fetch_add(&unseen_strangers, 1, __ATOMIC_RELAXED);
  watch_while_needed();
}

void sharer_ended(int pid) {
  if (FATHOM_LIKELY(guest.live->alive == kAlive)) return;
  if (Stranger* stranger = stranger_of(pid))
    __atomic_store_n(&stranger->shares, 0, __ATOMIC_RELEASE);
}

void forget_sharers() {
  for (Stranger& stranger : strangers) {
    if (strangers_met != 0 && stranger.taken != 0) stranger.taken = 0;
  }
  if (unseen_strangers != 0) unseen_strangers = 0;
  if (watch_lock != 0) watch_lock = 0;
  if (tls.vforks == 0) return;
  if (tls.thread != nullptr) tls.thread->lodging.on = false;
  tls.outside = static_cast<uint8_t>(tls.outside > tls.vforks ? tls.outside - tls.vforks : 0);
  tls.vforks = 0;
}

bool is_stranger() {
  if (guest.live->alive != kWatched) return false;
  if (sys_getpid() != guest.pid) return true;
  for (const Stranger& stranger : strangers) {
    if (__atomic_load_n(&stranger.taken, __ATOMIC_ACQUIRE) != 0 && stranger.thread)
      return stranger_of(sys_gettid()) != nullptr;
  }
  watch_while_needed();
  return false;
}

bool is_lodger() {
  return !is_stranger() && tls.vforks == 1 && tls.thread != nullptr && tls.thread->lodging.on;
}

bool in_program_watched() { return guest.live->alive != 0 && !is_stranger() && tls.outside == 0; }

Caller caller_of(fathom_source source) {
  if (is_stranger()) {
    pass(source);
    return Caller::kStranger;
  }
  if (tls.vforks == 0 || guest.live->alive == 0 || guest.wanted[source] == 0)
    return Caller::kProgram;
  // A child of a lodger, on the same memory, is nobody that we keep account of.
  if (tls.vforks == 1 && tls.thread != nullptr && tls.thread->lodging.on) return Caller::kLodger;
  count_loss(source, FATHOM_LOSS_SHARED_MEMORY);
  return Caller::kStranger;
}

bool unseen(fathom_source source) {
  if (caller_of(source) == Caller::kLodger) count_loss(source, FATHOM_LOSS_SHARED_MEMORY);
  return false;
}

// The kernel is asked: the child's descriptors are its own.
uint32_t file_of_lodger(int fd) {
  const Scratch scratch;
  if (fd < 0 || scratch.text() == nullptr) return 0;
  const long length = name_of_descriptor(fd, scratch.text(), Scratch::kRoom);
  if (length <= 0 || length >= static_cast<long>(Scratch::kRoom) || scratch.text()[0] != '/')
    return 0;
  return intern_path(0, scratch.text(), static_cast<size_t>(length));
}

void lodger_moves() { tls.thread->lodging.moved = true; }

uint32_t working_directory() {
  if (FATHOM_UNLIKELY(tls.vforks != 0) && is_lodger() && tls.thread->lodging.moved) return 0;
  return __atomic_load_n(&guest.cwd, __ATOMIC_RELAXED);
}

AsMemoryOwner::AsMemoryOwner() : on_(tls.vforks != 0 && is_lodger()), lodger_() {
  if (!on_) return;
  Thread& block = *tls.thread;
  lodger_ = block;
  static_cast<Identity&>(block) = block.lodging.host;
  write_switch(kCursors);
}

AsMemoryOwner::~AsMemoryOwner() {
  if (!on_) return;
  Thread& block = *tls.thread;
  block.lodging.host.run = block.run;
  static_cast<Identity&>(block) = lodger_;
  write_switch(tls.level);
}

}  // namespace fathom::guest
