// SPDX-License-Identifier: MIT
// One reading of the kernel's numbers of this thread for all events that need them: a system call
// for clocks, another for faults and switches.
#include "guest/region_counts.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "guest/records.h"
#include "guest/syscalls.h"
#include "wire/region_events.h"

namespace fathom::guest {

// By depth: where an open region began, and what the thread had counted then.
struct RegionCounts {
  struct Slot {
    uint64_t begin;  // tick; 0: nothing is known
    uint64_t counts[kMostRegionEvents];
  };
  int tid;  // whose: after a fork, it is another's
  Slot slots[kMaxDepth + 1];
};

namespace {

// What the kernel tells a thread about itself.
struct Reading {
  uint64_t clock;  // ns
  uint64_t faults, minor_faults, major_faults;
  uint64_t switches;
};

struct Countable {
  const char* name;
  uint64_t Reading::*of;
};
#define ROW(name, what) {name, &Reading::what},
constexpr Countable kCountables[] = {FATHOM_REGION_EVENTS(ROW)};
#undef ROW

struct Chosen {
  const Countable* what;
  uint32_t key;  // atomic; id of its name, 0: not known yet
};
constinit Chosen chosen[kMostRegionEvents] = {};
constinit bool needs_clock = false;
constinit bool needs_usage = false;

void choose(const char* name, size_t length) {
  for (const Countable& one : kCountables) {
    if (strlen(one.name) != length || strncmp(one.name, name, length) != 0) continue;
    if (region_events == kMostRegionEvents) return;
    chosen[region_events++] = {&one, 0};
    const bool by_clock = one.of == &Reading::clock;
    needs_clock = needs_clock || by_clock;
    needs_usage = needs_usage || !by_clock;
  }
}

bool read_clock(Reading& reading) {
  timespec time{};
  if (raw_syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, as_long(&time)) != 0) return false;
  reading.clock =
      static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
  return true;
}

bool read_usage(Reading& reading) {
  rusage usage{};
  if (raw_syscall(SYS_getrusage, RUSAGE_THREAD, as_long(&usage)) != 0) return false;
  reading.minor_faults = static_cast<uint64_t>(usage.ru_minflt);
  reading.major_faults = static_cast<uint64_t>(usage.ru_majflt);
  reading.faults = reading.minor_faults + reading.major_faults;
  reading.switches = static_cast<uint64_t>(usage.ru_nvcsw + usage.ru_nivcsw);
  return true;
}

bool read_own(Reading& reading) {
  return (!needs_clock || read_clock(reading)) && (!needs_usage || read_usage(reading));
}

RegionCounts* own_counts() {
  if (tls.thread == nullptr) return nullptr;
  RegionCounts*& own = tls.thread->region_counts;
  if (own == nullptr)
    own = static_cast<RegionCounts*>(
        sys_mmap(sizeof(RegionCounts), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
  if (own != nullptr && own->tid != tls.thread->tid) {
    for (RegionCounts::Slot& slot : own->slots) slot.begin = 0;
    own->tid = tls.thread->tid;
  }
  return own;
}

uint32_t key_of(Chosen& event) {
  uint32_t key = __atomic_load_n(&event.key, __ATOMIC_RELAXED);
  if (key != 0) return key;
  key = intern_text(event.what->name, strlen(event.what->name));
  __atomic_store_n(&event.key, key, __ATOMIC_RELAXED);
  return key;
}

void write_count(fathom_source source, uint8_t depth, uint32_t key, uint64_t count) {
  Writer writer(source);
  if (!writer.ok()) return;
  uint8_t* at = fathom_put_varint(put_head(tls.cursor.at, FATHOM_KIND_ARG_UINT), depth);
  writer.commit(fathom_put_varint(fathom_put_varint(at, key), count));
}

}  // namespace

constinit uint8_t region_events = 0;

void choose_region_events(const char* names) {
  while (*names != 0) {
    const size_t length = static_cast<size_t>(strchrnul(names, ',') - names);
    choose(names, length);
    names += length + (names[length] != 0 ? 1 : 0);
  }
}

void read_counts_at_begin(uint8_t depth) {
  RegionCounts* own = own_counts();
  Reading reading{};
  if (own == nullptr) return;
  RegionCounts::Slot& slot = own->slots[depth];
  slot.begin = 0;
  if (!read_own(reading)) return;
  for (unsigned i = 0; i < region_events; i++) slot.counts[i] = reading.*chosen[i].what->of;
}

void keep_counts_of(uint8_t depth, uint64_t begin) {
  if (tls.thread != nullptr && tls.thread->region_counts != nullptr)
    tls.thread->region_counts->slots[depth].begin = begin;
}

void write_counts_of(fathom_source source, uint8_t depth, uint64_t begin) {
  RegionCounts* own = own_counts();
  Reading reading{};
  if (own == nullptr || own->slots[depth].begin != begin || !read_own(reading)) return;
  RegionCounts::Slot& slot = own->slots[depth];
  slot.begin = 0;
  for (unsigned i = 0; i < region_events; i++)
    write_count(source, depth, key_of(chosen[i]), reading.*chosen[i].what->of - slot.counts[i]);
}

}  // namespace fathom::guest
