// SPDX-License-Identifier: MIT
// The in-process half: what a thread needs to write records, and the process-wide state behind it.
//
// Rules of this world (the first law of ARCHITECTURE.md): nothing here throws, allocates from the
// program's heap, waits without bound, prints, leaves a descriptor open or changes errno. Whatever
// is missing makes a hook pass straight through, and is counted.
//
// Threads: everything in Tls belongs to its thread alone. Signals: a handler may interrupt a thread
// anywhere and come back here; a thread that is writing a record has Tls::writing set, and the
// handler then writes through a cursor of its own (nested_cursor). Forks: `live` lies in a page
// that the kernel wipes in a child, however the child was made, so that its first hook finds
// everything off and attaches anew.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "guest/tick.h"
#include "wire/record.h"
#include "wire/spool.h"

// Slow paths are kept out of line and cold: what they would push and save is felt in every hook.
#define FATHOM_COLD __attribute__((noinline, cold))
// Called by every short program: placed beside the code that runs at the start (CMakeLists.txt).
#define FATHOM_AT_START __attribute__((hot))
#define FATHOM_HOT inline __attribute__((always_inline))

// The frame of the hook that this stands in.
#define FATHOM_FRAME reinterpret_cast<uintptr_t>(__builtin_frame_address(0))

#define FATHOM_LIKELY(x) __builtin_expect(!!(x), 1)
#define FATHOM_UNLIKELY(x) __builtin_expect(!!(x), 0)

namespace fathom::guest {

// A record that has no text fits into this; a segment is left when less is free.
constexpr uint32_t kRecordRoom = 512;
constexpr uint32_t kSegmentLimit = FATHOM_SEGMENT_SIZE - kRecordRoom;
constexpr int kCursors = 4;
constexpr int kMaxDepth = 250;

// Where a thread writes, and what its next record is relative to.
struct Thread;

// One of a thread's places to write. Only that thread touches it, or a signal handler of that
// thread which finds no record under way (Writer).
struct Cursor {
  uint8_t* at;              // behind the last record; nullptr when there is no segment
  fathom_segment* segment;  // nullptr: none
  uint64_t last_end;        // tick
  uint64_t last_file;       // fd and file of the last record that had them, see same_file()
  int64_t last_stop;        // where that record's bytes ended in the file
};
// Room for a record. False where there is no segment: the difference of two null pointers lies
// below the header. By value: gcc's check of references for null fails for thread-local ones.
FATHOM_HOT bool has_room(Cursor cursor) {
  const auto used = static_cast<uintptr_t>(cursor.at - reinterpret_cast<uint8_t*>(cursor.segment));
  return used - FATHOM_SEGMENT_HEADER_SIZE <= kSegmentLimit - FATHOM_SEGMENT_HEADER_SIZE;
}

// The records that a cursor adds calls to, in its segment (sums.h).
constexpr unsigned kSummed = 10;

// For one thread and cursor. The records lie in the cursor's segment, and are forgotten with it.
struct OpenSums {
  uint64_t look_at;   // tick: then the clock is looked at again
  uint64_t begin_ns;  // of the interval
  uint64_t rate;      // ns per tick, 16 fractional bits
  fathom_sums* of[kSummed];
};

// The loader aligns the static TLS of a late library as that of libc's own threads, and no further.
#ifdef __x86_64__
constexpr size_t kTlsAlignment = 64;
#else
constexpr size_t kTlsAlignment = 16;
#endif
struct alignas(kTlsAlignment) Tls {
  Cursor cursor;
  Thread* thread;
  uintptr_t writing;  // stack address of the writer while a record is being written, 0 else
  uint8_t depth;
  uint8_t last_depth;
  uint8_t level;    // cursor in use while writing
  uint8_t outside;  // in a child that shares our memory, or inside our own slow paths: pass through
  uint32_t vforks;  // that this thread waits for: whoever runs is the child
};
static_assert(sizeof(Tls) == 64, "the loader gives late libraries little static TLS");

// Whose records they are.
struct Identity {
  uint64_t key;  // of the process
  int pid;
  int tid;
  uint32_t ordinal;  // of the thread in its process
  uint32_t run;      // the next one's number
  uint32_t space;    // of the pid (fathom_space)
  int outer_pid;     // what the recorder calls the two; else as above
  int outer_tid;
};

// Cold state, from our own arena, reused by later threads.
struct Thread : Identity {
  volatile uint32_t calls;  // of ours to the kernel that this thread is in
  // Of signal handlers that interrupted a writer, by level, while they are not in tls; and what was
  // in tls when they came.
  struct Aside {
    Cursor cursor;
    uintptr_t writing;
    uint8_t last_depth;
  };
  Aside nested[kCursors - 1];
  Aside interrupted[kCursors - 1];
  OpenSums sums[kCursors];
  uintptr_t
      open_frames[kMaxDepth + 1];  // stack addresses of the open calls and regions, outermost first
  // While a child by vfork runs in the thread's place: what the thread is and had (sharing.cc).
  struct Lodging {
    Identity host;
    Tls tls;
    Aside nested[kCursors - 1];
    uint64_t begin;  // tick of the call
    bool on;
    bool moved;  // the child has changed its directory
  };
  Lodging lodging;
  Thread* next_free;
  struct FunctionStack* functions;  // of -finstrument-functions, made when first needed
  uint32_t function_count;          // may exceed its room: what is deeper is not recorded
  struct FrameStack* frames;        // of an interpreter, made when first needed
  uint32_t frame_count;             // may exceed its room, too
  uint8_t frame_level;              // levels that are open for frames which run
  uint8_t farewells;                // rounds of destructors that have gone by
  bool told;                        // that it began: then its end is told, too
  struct RangeStack* ranges;        // of NVTX, made when first needed
  uint32_t range_count;
  struct RegionCounts* region_counts;  // of open regions, made when first needed
  uint64_t gpu_place;                  // what is current of a GPU's driver, 0: not asked yet
  uint64_t gpu_correlation;            // of the driver's call that runs, 0: none was told
};

// __thread, not thread_local: no wrapper function stands between us and it.
extern __thread Tls tls __attribute__((tls_model("initial-exec")));

// In a page of its own, wiped by the kernel in forked children.
enum : uint32_t {
  kAlive = 1,
  // There are children that share our memory and may have no thread-local storage of ours: all
  // sources look off, so that every hook asks who calls it (sharing.cc) before it looks at `tls`.
  kWatched = 2,
};

// The one thing that hooks look at first: a byte for each source.
struct Live {
  uint8_t on[FATHOM_SOURCES];  // by fathom_source
  uint32_t alive;
};

extern Live nothing_on;  // before attach, and where it failed

// The linker sorts variables by their alignment (CMakeLists.txt): tables and buffers that it would
// put between small ones, which every program touches, are aligned to this.
constexpr size_t kLarge = 64;

constexpr size_t kSpoolRoom = 4096;
constexpr size_t kShortSpool = 200;  // shorter ones lie in a page that is touched anyway
extern char spool_room[kSpoolRoom];

// All that this process has one of. Written while it attaches and in a forked child, read by all
// threads. Never freed: hooks may be called while the process ends.
struct Guest {
  Live* live = &nothing_on;
  fathom_run_header* run;
  fathom_run_shared* shared;  // what this process counts together with others
  uint64_t process_key;
  uint64_t forked;  // tick; 0: it was not
  uint32_t tick_source;
  int pid;
  uint32_t space;        // of the pid
  int outer_pid;         // atomic: what the recorder calls this process; 0: not known
  uint32_t next_id;      // atomic
  uint32_t first_id;     // those below are of the process that this one was forked from
  uint32_t next_thread;  // atomic
  uint32_t cwd;          // atomic, id of the path of the working directory
  uint8_t wanted[FATHOM_SOURCES];
  bool attached;
  bool late;      // hooks are bound by rewriting GOTs
  bool filtered;  // FATHOM_CALLS leaves some calls out
  bool confined;  // atomic: we make no system call any more (confinement.h)
  bool silenced;  // confined, and something without which nothing can be recorded is not known
  bool confined_by_child;    // of a vfork, which shares our memory: until it has gone
  bool brokered;             // the run's header is a private copy, which the recorder gave us
  bool unheard;              // atomic: the recorder does not answer; nor are children to ask it
  char* out = spool_room;    // the recording's spool directory; room for kSpoolRoom
  const char* library = "";  // our own path, as in LD_PRELOAD; the loader's text
};
extern Guest guest;

// How much of guest.out, the spool, names the recording that it lies in.
inline size_t length_of_recording() { return strlen(guest.out) - (sizeof "/spool" - 1); }

// What the processes of the run have in common; not before the run's header is mapped.
inline fathom_run_shared* run_shared() { return guest.shared; }

FATHOM_HOT bool is_confined() { return __atomic_load_n(&guest.confined, __ATOMIC_RELAXED); }

// guest.tick_source where the run's ticks are the counter's, and this process may not read it.
constexpr uint32_t kTickConverted = UINT32_MAX;
FATHOM_COLD uint64_t slow_tick();
FATHOM_HOT uint64_t tick() {
  return FATHOM_LIKELY(guest.tick_source == FATHOM_TICK_COUNTER) ? read_counter() : slow_tick();
}

// --- hot path
// ---------------------------------------------------------------------------------------------------------

FATHOM_COLD bool wake_up(
    fathom_source source);  // attaches a forked child; whether the source is on then
bool acquire_segment();     // for tls.cursor

// Whether calls of this source are recorded here and now.
FATHOM_HOT bool recording(fathom_source source) {
  if (FATHOM_UNLIKELY(!guest.live->on[source])) return wake_up(source);
  return FATHOM_LIKELY(!tls.outside);
}

// Whether this is the program, attached, and neither a child that shares its memory nor a slow path
// of ours.
FATHOM_COLD bool in_program_watched();
FATHOM_HOT bool in_program() {
  return FATHOM_LIKELY(guest.live->alive == kAlive) ? tls.outside == 0 : in_program_watched();
}

FATHOM_COLD void count_loss(fathom_source source, fathom_loss reason, uint64_t count = 1);

// Makes what stands before tls.cursor part of its segment. `kind` is that of a call in flight, 0:
// none.
FATHOM_HOT void store_progress(uint16_t kind = 0) {
  fathom_segment* segment = tls.cursor.segment;
  const auto bytes = static_cast<uint64_t>(tls.cursor.at - reinterpret_cast<uint8_t*>(segment));
  __atomic_store_n(&segment->progress, bytes | (static_cast<uint64_t>(kind) << 32),
                   __ATOMIC_RELEASE);
}

// A writer of one record, through tls.cursor; check ok() before writing. Where a signal handler
// interrupted another writer of this thread, tls.cursor is exchanged for one of its own meanwhile.
class Writer {
 public:
  FATHOM_HOT explicit Writer(fathom_source source) {
    const auto frame = FATHOM_FRAME;
    if (FATHOM_LIKELY(tls.writing == 0)) {
      tls.writing = frame;
    } else if (!enter_nested(frame, source, &nested_)) {
      ok_ = false;
      return;
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (FATHOM_UNLIKELY(!has_room(tls.cursor))) ok_ = refill(source);
  }
  FATHOM_HOT ~Writer() {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (FATHOM_UNLIKELY(nested_ || !ok_)) {
      leave(nested_, ok_);
    } else {
      tls.writing = 0;
    }
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  [[nodiscard]] FATHOM_HOT bool ok() const { return FATHOM_LIKELY(ok_); }

  // Makes the record that ends at `end` part of the segment, and says that no call is in flight.
  FATHOM_HOT void commit(uint8_t* end) {
    tls.cursor.at = end;
    store_progress();
  }

 private:
  FATHOM_COLD static bool enter_nested(uintptr_t frame, fathom_source source, bool* nested);
  FATHOM_COLD static bool refill(fathom_source source);
  FATHOM_COLD static void leave(bool nested, bool ok);

  // Apart: side by side, gcc loads the values that they begin with as one constant, out of a page
  // of the library that a forked child needs for nothing else.
  bool ok_ = true;
  alignas(8) bool nested_ = false;
};

// Room for a record with a text; takes a fresh segment when this one is nearly full. nullptr when
// there is none.
uint8_t* room_for(Writer& writer, size_t bytes, fathom_source source);

// --- depth
// ------------------------------------------------------------------------------------------------------------

// Opens a level of nesting and returns its depth. Levels that longjmp left behind are seen by their
// stack addresses: the frame of an open call lies above ours, unless a handler runs on a stack of
// its own. A region has no frame of its own: it is opened by a callee of the function that it lies
// in, as the calls and regions inside it are, so equal frames nest there. Its low bit is set to
// tell so. A span does not follow the stack at all (an interpreter's region): it lies above every
// address, and stays until it is closed. A handler between the two stores uses the same place for
// its own levels: then both are stored again.
enum class Level : uintptr_t { kCall = 0, kRegion = 1, kSpan = UINTPTR_MAX };
FATHOM_COLD void first_record_of_thread();
FATHOM_COLD uint8_t levels_below(uintptr_t frame);  // how many levels are still open
FATHOM_HOT uint8_t open_level(uintptr_t frame, Level level = Level::kCall) {
  if (FATHOM_UNLIKELY(tls.thread == nullptr)) first_record_of_thread();
  if (FATHOM_UNLIKELY(tls.thread == nullptr)) return 0;
  uint8_t depth = tls.depth;
  if (FATHOM_UNLIKELY(depth > 0 && tls.thread->open_frames[depth - 1] <= frame))
    depth = levels_below(frame);
  const uintptr_t mark = frame | static_cast<uintptr_t>(level);
  const auto inside = static_cast<uint8_t>(depth < kMaxDepth ? depth + 1 : depth);
  uintptr_t& place = tls.thread->open_frames[depth];
  do {
    place = mark;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    tls.depth = inside;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  } while (FATHOM_UNLIKELY(place != mark || tls.depth != inside));
  return depth;
}
FATHOM_HOT void close_level(uint8_t depth) { tls.depth = depth; }

// Notes the call in flight, for readers of a process that dies in it. It writes to the segment, so
// it is a writer: a handler that comes now, and may leave the segment or fork, takes it for one. A
// call in a handler that interrupted a writer is not noted: the segment is not its own.
FATHOM_HOT void note_call(uint16_t kind, uint64_t begin) {
  if (FATHOM_UNLIKELY(tls.writing != 0)) return;
  tls.writing = FATHOM_FRAME;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  fathom_segment* segment = tls.cursor.segment;
  if (FATHOM_LIKELY(segment != nullptr)) {
    __atomic_store_n(&segment->in_call_since, begin, __ATOMIC_RELAXED);
    store_progress(kind);
  }
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  tls.writing = 0;
}

// --- names
// ------------------------------------------------------------------------------------------------------------

uint32_t intern_text(const char* text, size_t length);
uint32_t intern_path(uint32_t base, const char* text, size_t length);
uint32_t intern_channel(const char* text, size_t length);  // what a descriptor leads to
uint32_t intern_function(const void* address);
uint32_t define_site(const char* name, const char* category, const char* file, unsigned line);

// --- processes
// --------------------------------------------------------------------------------------------------------

void prepare_fork();  // in the parent, before a child may be made
void attach_child();  // in the child
void write_exec(int child, uint32_t file, unsigned flags, uint64_t begin);
void write_exec_failed();
void write_waited(int pid, int status);
void write_process_end(int status, bool known);
void tell_unseen(const char* key);  // META: requests of this process that pass no hook
void leave_thread();                // its end: hands its segments over
void leave_segments();              // hands them over; the next record takes another
void forget_sums();                 // of tls.cursor, which is about to write in another segment
void note_clock();                  // tells in the run's header what both clocks show now

}  // namespace fathom::guest
