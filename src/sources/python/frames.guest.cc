// SPDX-License-Identifier: MIT
// Layer python: the frames of an interpreter, thread by thread, and their records. Who tells of
// them is the extension, which knows the interpreter (tracer.h); here nothing of Python is known.
#include "sources/python/frames.h"

#include <sys/mman.h>

#include "guest/records.h"
#include "guest/region_counts.h"
#include "guest/syscalls.h"
#include "sources/python/filters.h"
#include "sources/python/guest_frames.h"
#include "sources/python/python.schema.h"

namespace fathom::guest {

// A frame that runs, or a loop of it. Mapped; touched as far as the program goes.
struct FrameStack {
  static constexpr uint32_t kRoom = 1u << 16;
  struct Entry {
    uint64_t begin;       // 0: not recorded, beyond the depth that was asked for
    uint64_t iterations;  // of a loop
    uint64_t turn_begin;
    uint32_t site;
    uint8_t depth;
    uint8_t level_before;  // Thread::frame_level
    bool loop;
    uint8_t which;  // of loops in one place
    bool resumed;   // a loop that began before its generator or coroutine was suspended
  };
  Entry entries[kRoom];
};

namespace python {
namespace {

constexpr fathom_source kPython = FATHOM_SOURCE_PYTHON;
constexpr uint32_t kRoom = FrameStack::kRoom;
using Entry = FrameStack::Entry;

// As asked for in ns, once ticks are known (ticks_of).
constinit uint64_t min_ticks = 0;

FATHOM_COLD FrameStack* make_stack() {
  tls.thread->frames = static_cast<FrameStack*>(sys_mmap(
      sizeof(FrameStack), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1));
  return tls.thread->frames;
}

FATHOM_HOT Entry* entries() {
  FrameStack* stack = tls.thread->frames;
  if (FATHOM_UNLIKELY(stack == nullptr)) stack = make_stack();
  return stack != nullptr ? stack->entries : nullptr;
}

// Opens a level, and gives a place for what begins now; nullptr where there is none.
// Counts also what finds no room, so that ends are met by their own begins.
FATHOM_HOT Entry* open_entry() {
  if (FATHOM_UNLIKELY(tls.thread == nullptr)) first_record_of_thread();
  if (FATHOM_UNLIKELY(tls.thread == nullptr)) return nullptr;
  Entry* all = entries();
  if (FATHOM_UNLIKELY(all == nullptr)) return nullptr;
  const uint32_t at = tls.thread->frame_count++;
  return FATHOM_LIKELY(at < kRoom) ? &all[at] : nullptr;
}

FATHOM_HOT void write_function(const Entry& entry, uint64_t end) {
  end_counted(kPython, entry.depth, entry.begin);
  Writer writer(kPython);
  if (!writer.ok()) return;
  uint8_t* at = put_timed_head(kFunction, entry.depth, end);
  writer.commit(fathom_put_varint(fathom_put_varint(at, end - entry.begin), entry.site));
}

FATHOM_COLD void write_counted(unsigned kind, uint64_t begin, uint64_t end, const Entry& entry,
                               uint64_t count) {
  Writer writer(kPython);
  if (!writer.ok()) return;
  const auto depth = static_cast<uint8_t>(entry.depth + (kind == kTurn ? 1 : 0));
  uint8_t* at = fathom_put_varint(put_timed_head(kind, depth, end), end - begin);
  at = fathom_put_varint(at, entry.site);
  at = fathom_put_varint(at, fathom_zigzag(static_cast<int64_t>(count)));
  if (kind == kResumedLoop) at = fathom_put_varint(at, fathom_zigzag(1));
  writer.commit(at);
}

FATHOM_HOT void close(const Entry& entry) {
  tls.thread->frame_level = entry.level_before;
  close_level(entry.depth);
}

// The turn that ends now, where turns are asked for.
void end_turn(const Entry& entry, uint64_t end) {
  if (entry.iterations == 0 || entry.iterations > filters.turns) return;
  write_counted(kTurn, entry.turn_begin, end, entry, entry.iterations);
}

FATHOM_COLD void end_loop(const Entry& entry, uint64_t end) {
  end_turn(entry, end);
  if (filters.turns != 0 && entry.iterations > filters.turns)
    count_loss(kPython, FATHOM_LOSS_CAPPED, entry.iterations - filters.turns);
  write_counted(entry.resumed ? kResumedLoop : kLoop, entry.begin, end, entry, entry.iterations);
  close(entry);
}

// Where a frame lies in the stack, counted from 1; 0: nowhere. A loop belongs to the frame that
// runs.
FATHOM_COLD uint32_t find_frame(const Entry* all, uint32_t site) {
  uint32_t at = tls.thread->frame_count;
  while (at > 0 && (all[at - 1].site != site || all[at - 1].loop)) at--;
  return at;
}

FATHOM_HOT bool is_loop(const Entry& entry, uint64_t loop) {
  return entry.loop && fathom_loop(entry.site, entry.which) == loop;
}

FATHOM_COLD uint32_t find_loop(const Entry* all, uint64_t loop) {
  for (uint32_t at = tls.thread->frame_count; at > 0 && all[at - 1].loop; at--) {
    if (is_loop(all[at - 1], loop)) return at;
  }
  return 0;
}

// What lies inside ends with it: loops that were left by return, break or an exception, and frames
// whose end was never told.
FATHOM_COLD void end_inside(const Entry* all, uint32_t place, uint64_t end) {
  for (uint32_t at = tls.thread->frame_count; at > place; at--) {
    const Entry& entry = all[at - 1];
    if (entry.loop) {
      end_loop(entry, end);
    } else if (entry.begin != 0) {
      count_loss(kPython, FATHOM_LOSS_UNMATCHED);
    }
  }
  tls.thread->frame_count = place;
}

// Beyond the room frames are only counted.
FATHOM_COLD void leave_unrecorded() {
  tls.thread->frame_count--;
  count_loss(kPython, FATHOM_LOSS_TOO_DEEP);
}

void enter(uint32_t site) {
  if (!recording(kPython)) return;
  Entry* entry = open_entry();
  if (FATHOM_UNLIKELY(entry == nullptr)) return;
  if (FATHOM_UNLIKELY(tls.thread->frame_count > filters.depth)) {
    *entry = {0, 0, 0, site, tls.depth, tls.thread->frame_level, false, 0, false};
    return;
  }
  const uint8_t depth = open_level(FATHOM_FRAME, Level::kSpan);
  entry->site = site;
  entry->depth = depth;
  entry->level_before = tls.thread->frame_level;
  entry->loop = false;
  tls.thread->frame_level = tls.depth;
  entry->begin = begin_counted(depth);
}

// The innermost frame, as a rule. Another one where an end went unseen: what lies inside ends with
// it.
void leave(uint32_t site) {
  const uint64_t end = tick();
  if (!recording(kPython) || tls.thread == nullptr || tls.thread->frame_count == 0) return;
  const Entry* all = entries();
  uint32_t place = tls.thread->frame_count;
  if (FATHOM_UNLIKELY(place > kRoom)) return leave_unrecorded();
  if (FATHOM_UNLIKELY(all[place - 1].site != site || all[place - 1].loop)) {
    place = find_frame(all, site);
    if (place == 0) return;
    end_inside(all, place, end);
  }
  const Entry& entry = all[place - 1];
  tls.thread->frame_count = place - 1;
  if (FATHOM_UNLIKELY(entry.begin == 0)) return;
  if (FATHOM_LIKELY(end - entry.begin >= min_ticks)) write_function(entry, end);
  close(entry);
}

void open_loop(uint64_t loop, uint64_t now, bool resumed) {
  Entry* entry = open_entry();
  if (entry == nullptr) return;
  const uint8_t depth = open_level(FATHOM_FRAME, Level::kSpan);
  if (filters.turns != 0) open_level(FATHOM_FRAME, Level::kSpan);
  *entry = {now,    0,
            now,    static_cast<uint32_t>(loop),
            depth,  tls.thread->frame_level,
            true,   static_cast<uint8_t>(loop >> 32),
            resumed};
  tls.thread->frame_level = tls.depth;
}

// Whether the innermost frame that is recorded is of this site: one that is not may tell of loops.
FATHOM_COLD bool runs_in(const Entry* all, uint32_t function) {
  uint32_t at = tls.thread->frame_count;
  while (at > 0 && all[at - 1].loop) at--;
  return at > 0 && all[at - 1].site == function;
}

// A turn of a loop that is not open begins it; one of an outer loop ends those inside.
int turn(uint32_t function, uint64_t loop, uint64_t turns) {
  if (!recording(kPython) || tls.thread == nullptr) return 0;
  const bool resumed = turns == FATHOM_LOOP_RESUMES;
  if (FATHOM_UNLIKELY(tls.thread->frame_count == 0 || tls.thread->frame_count >= kRoom)) return 0;
  int opened = 0;
  Entry* all = entries();
  uint32_t place = tls.thread->frame_count;
  if (!is_loop(all[place - 1], loop)) {
    place = find_loop(all, loop);
    if (place != 0) {
      end_inside(all, place, tick());
    } else if (all[tls.thread->frame_count - 1].begin != 0 &&
               (function == 0 || runs_in(all, function))) {
      open_loop(loop, tick(), resumed);
      place = tls.thread->frame_count;
      opened = 1;
    } else {
      return 0;  // of a frame that is not recorded
    }
  }
  Entry& entry = all[place - 1];
  if (FATHOM_UNLIKELY(filters.turns != 0)) {
    const uint64_t now = tick();
    end_turn(entry, now);
    entry.turn_begin = now;
  }
  if (!resumed) entry.iterations += turns;
  return opened;
}

void leave_loop(uint64_t loop) {
  const uint64_t end = tick();
  if (!recording(kPython) || tls.thread == nullptr || tls.thread->frame_count == 0) return;
  if (tls.thread->frame_count > kRoom) return;
  const Entry* all = entries();
  const uint32_t place = find_loop(all, loop);
  if (place != 0) end_inside(all, place - 1, end);
}

uint32_t site_of(const fathom_frame_place* place) {
  if (!recording(kPython)) return 0;
  return define_site(place->name, place->module, place->file, place->line);
}

uint32_t filtered_site_of(const fathom_frame_place* place) {
  if (!keeps_module(filters.modules, place->module) || !keeps_path(place->file))
    return FATHOM_FRAME_LEFT_OUT;
  return site_of(place);
}

void lose(uint32_t reason) {
  if (recording(kPython)) count_loss(kPython, static_cast<fathom_loss>(reason));
}

int wants_loops(const char* module) {
  return filters.loops_asked && keeps_module(filters.loops, module);
}

constexpr long kMostText = 64 << 20;

// For the extension, which may not use the program's heap either.
char* read_file(const char* path, size_t* size) {
  const int fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
  if (fd < 0) return nullptr;
  const long end = raw_syscall(SYS_lseek, fd, 0, 2 /* SEEK_END */);
  char* text = nullptr;
  if (end > 0 && end <= kMostText && raw_syscall(SYS_lseek, fd, 0, 0 /* SEEK_SET */) == 0)
    text = static_cast<char*>(sys_mmap(static_cast<size_t>(end) + 1, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1));
  long got = 0;
  for (long part = 1; text != nullptr && part > 0 && got<end; got += part> 0 ? part : 0)
    part = sys_read(fd, text + got, static_cast<size_t>(end - got));
  sys_close(fd);
  *size = static_cast<size_t>(end);
  if (text == nullptr || got == end) return text;
  sys_munmap(text, *size + 1);
  return nullptr;
}

void free_file(char* text, size_t size) { sys_munmap(text, size + 1); }

// How long the shortest function is, in ticks: by both clocks at the start of the run, and now.
uint64_t ticks_of(uint64_t ns) {
  if (guest.tick_source == FATHOM_TICK_MONOTONIC_NS || ns == 0) return ns;
  const uint64_t passed_ns = clock_ns(CLOCK_MONOTONIC) - guest.run->start_monotonic_ns;
  const uint64_t passed_ticks = tick() - guest.run->start_tick;
  if (passed_ns == 0) return ns;
  return static_cast<uint64_t>(static_cast<double>(ns) * static_cast<double>(passed_ticks) /
                               static_cast<double>(passed_ns));
}

constinit fathom_frames functions = {
    .size = sizeof(fathom_frames),
    .site = site_of,
    .filtered_site = filtered_site_of,
    .enter = enter,
    .leave = leave,
    .turn = turn,
    .leave_loop = leave_loop,
    .lose = lose,
    .wants_loops = wants_loops,
    .read_file = read_file,
    .free_file = free_file,
    .wants_c_calls = 0,
};

}  // namespace

const fathom_frames* prepare_frames() {
  read_filters();
  min_ticks = ticks_of(filters.min_ns);
  functions.wants_c_calls = filters.c_calls ? 1 : 0;
  return &functions;
}

}  // namespace python

}  // namespace fathom::guest
