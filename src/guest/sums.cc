// SPDX-License-Identifier: MIT
// Opens and closes the records that calls are added up in. The hot addition is in sums.h; the clock
// is looked at seldom, because heap calls may come every 20 ns.
#include "guest/sums.h"

#include "guest/records.h"

namespace fathom::guest {
namespace {

constexpr uint64_t kSecond = 1000000000;

constexpr size_t kHead = 2 + 2 + 1;  // head, kind, how many bytes of padding follow
static_assert(kHead + 7 + sizeof(fathom_sums) <= kRecordRoom);

// ns per tick, with 16 fractional bits: of numbers so small that nothing overflows.
uint64_t rate_of(uint64_t ns, uint64_t ticks) {
  while (ns >> 47 != 0) {
    ns >>= 1;
    ticks >>= 1;
  }
  return ticks == 0 ? UINT64_C(1) << 16 : (ns << 16) / ticks;
}

uint64_t since(uint64_t start, uint64_t now) { return now > start ? now - start : 0; }

}  // namespace

void forget_sums() { tls.thread->sums[tls.level] = {}; }

// Both clocks run since the start of the run, so that their rate is known the better the longer it
// goes on. The next look comes when as much time again has passed, or a second, or the interval: an
// early, poor rate does no harm then.
void look_at_clock(OpenSums& open) {
  const fathom_run_header& run = *guest.run;
  const uint64_t width = run.interval_ns != 0 ? run.interval_ns : kSecond;
  const bool counts = guest.tick_source != FATHOM_TICK_MONOTONIC_NS;
  const uint64_t now = tick();
  const uint64_t ticks = since(run.start_tick, now);
  const uint64_t ns = counts ? since(run.start_monotonic_ns, clock_ns(CLOCK_MONOTONIC)) : ticks;
  const uint64_t rate = rate_of(ns, ticks);
  const uint64_t begin = ns - ns % width;
  if (begin != open.begin_ns) open = {};
  uint64_t step = begin + width - ns;
  if (step > kSecond) step = kSecond;
  if (step > ns) step = ns;
  open.begin_ns = begin;
  open.rate = rate;
  open.look_at = now + (step << 16) / (rate != 0 ? rate : 1) + 1;
}

fathom_sums* begin_sums(Writer& writer, OpenSums& open, unsigned place, uint16_t kind) {
  uint8_t* at = put_head(tls.cursor.at, FATHOM_KIND_SUMS);
  memcpy(at, &kind, 2);
  const auto padding =
      static_cast<uint8_t>(-(reinterpret_cast<uintptr_t>(tls.cursor.at) + kHead) % 8);
  at[2] = padding;
  memset(at + 3, 0, padding);
  auto* sums = reinterpret_cast<fathom_sums*>(at + 3 + padding);
  *sums = {};
  sums->begin_ns = open.begin_ns;
  sums->width_ns = guest.run->interval_ns != 0 ? guest.run->interval_ns : kSecond;
  sums->least = UINT64_MAX;
  writer.commit(reinterpret_cast<uint8_t*>(sums + 1));
  open.of[place] = sums;
  return sums;
}

}  // namespace fathom::guest
