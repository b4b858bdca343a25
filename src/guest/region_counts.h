// SPDX-License-Identifier: MIT
// What a thread did between the begin and the end of a region: counts of the kernel's, which become
// arguments of the region. Off unless FATHOM_REGION_EVENTS names events; a thread reads them by
// system calls that need neither a descriptor nor memory of the program's.
#pragma once

#include "guest/runtime.h"
#include "wire/region_events.h"

namespace fathom::guest {

constexpr unsigned kMostRegionEvents = FATHOM_MOST_REGION_EVENTS;

extern uint8_t region_events;  // how many are counted

// NAME,… out of the table of wire/region_events.h; other words are nobody's.
FATHOM_COLD void choose_region_events(const char* names);

FATHOM_COLD void read_counts_at_begin(uint8_t depth);
FATHOM_COLD void keep_counts_of(uint8_t depth, uint64_t begin);
FATHOM_COLD void write_counts_of(fathom_source source, uint8_t depth, uint64_t begin);

// A region begins: returns its first tick. The counts are read before, so that its time is without
// that.
FATHOM_HOT uint64_t begin_counted(uint8_t depth) {
  if (FATHOM_LIKELY(region_events == 0)) return tick();
  read_counts_at_begin(depth);
  const uint64_t begin = tick();
  keep_counts_of(depth, begin);
  return begin;
}

// Before its record is written; its end was taken before. `begin` is what begin_counted() gave: a
// region that ends in another thread or process than it began in has no counts.
FATHOM_HOT void end_counted(fathom_source source, uint8_t depth, uint64_t begin) {
  if (FATHOM_UNLIKELY(region_events != 0)) write_counts_of(source, depth, begin);
}

}  // namespace fathom::guest
