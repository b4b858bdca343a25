// SPDX-License-Identifier: MIT
// Records that the runtime itself writes (docs/formats/spool.md): helpers for heads, times and ids.
#pragma once

#include <string.h>

#include "guest/runtime.h"
#include "wire/varint.h"

namespace fathom::guest {

FATHOM_HOT uint8_t* put_head(uint8_t* at, unsigned kind_and_flags) {
  const auto head = static_cast<uint16_t>(kind_and_flags);
  memcpy(at, &head, 2);
  return at + 2;
}

// Head, depth where it changed, end relative to the record before. Returns where the fields go.
FATHOM_HOT uint8_t* put_timed_head(unsigned kind_and_flags, uint8_t depth, uint64_t end) {
  uint8_t* at = tls.cursor.at;
  if (FATHOM_UNLIKELY(depth != tls.last_depth)) {
    at = put_head(at, kind_and_flags | FATHOM_FLAG_DEPTH);
    *at++ = tls.last_depth = depth;
  } else {
    at = put_head(at, kind_and_flags);
  }
  // A cursor may have been given a later tick by its SWITCH than a call that began before: time
  // never runs backwards.
  const uint64_t last = tls.cursor.last_end;
  const uint64_t now = end > last ? end : last;
  tls.cursor.last_end = now;
  return fathom_put_varint(at, now - last);
}

// A record with an end and nothing else.
void write_timed(unsigned kind);
// A record with one id and no time.
void write_id(unsigned kind, uint32_t id);

}  // namespace fathom::guest
