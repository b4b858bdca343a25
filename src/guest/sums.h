// SPDX-License-Identifier: MIT
// Calls that are too many for a record each: they are added up where the thread writes, one record
// SUMS for a kind and an interval (docs/formats/spool.md), so that a killed process leaves them.
//
// Only its own thread adds to a record, as a writer: a signal handler that comes meanwhile adds to
// sums of its own level, in its own segment. A cursor that begins to write in another segment
// forgets its sums (forget_sums), so that a segment which was handed over is not touched again; the
// cursor of a forked child has no segment, and begins there.
#pragma once

#include "guest/runtime.h"

namespace fathom::guest {

// One call that is to be added up. Times are ticks.
struct SummedCall {
  uint64_t begin;
  uint64_t end;
  uint64_t bytes;
  bool failed;
};

FATHOM_COLD void look_at_clock(OpenSums& open);
FATHOM_COLD fathom_sums* begin_sums(Writer& writer, OpenSums& open, unsigned place, uint16_t kind);

// `ticks` as ns by a rate of 16 fractional bits, into the bucket of its highest bit.
FATHOM_HOT unsigned bucket_of(uint64_t ticks, uint64_t rate) {
  const uint64_t longest = UINT64_C(1) << 40;  // hours, and no overflow below
  const uint64_t ns = (ticks < longest ? ticks : longest) * rate >> 16;
  const auto bucket = static_cast<unsigned>(63 - __builtin_clzll(ns | 1));
  return bucket < FATHOM_SUMS_BUCKETS ? bucket : FATHOM_SUMS_BUCKETS - 1;
}

// Adds a call of this thread. `place` tells its kind from the others that are added up.
FATHOM_HOT void add_call(fathom_source source, unsigned place, uint16_t kind,
                         const SummedCall& call) {
  Writer writer(source);
  if (!writer.ok()) return;
  OpenSums& open = tls.thread->sums[tls.level];
  if (FATHOM_UNLIKELY(call.end >= open.look_at)) look_at_clock(open);
  fathom_sums* sums = open.of[place];
  if (FATHOM_UNLIKELY(sums == nullptr)) sums = begin_sums(writer, open, place, kind);
  const uint64_t ticks = call.end > call.begin ? call.end - call.begin : 0;
  sums->last_end = call.end;
  sums->ticks += ticks;
  sums->bytes += call.bytes;
  if (ticks < sums->least) sums->least = ticks;
  if (ticks > sums->most) sums->most = ticks;
  if (FATHOM_UNLIKELY(call.failed)) sums->errors++;
  // The last: how many calls there were is what the buckets say.
  uint64_t& bucket = sums->hist[bucket_of(ticks, open.rate)];
  __atomic_store_n(&bucket, bucket + 1, __ATOMIC_RELEASE);
}

}  // namespace fathom::guest
