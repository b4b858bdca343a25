// SPDX-License-Identifier: MIT
// Records that the runtime itself writes (docs/formats/spool.md): helpers for heads, times and ids.
#pragma once

#include <string.h>

#include "guest/runtime.h"
#include "wire/varint.h"

namespace fathom::guest {

inline uint8_t* put_head(uint8_t* at, unsigned kind_and_flags) {
  const auto head = static_cast<uint16_t>(kind_and_flags);
  memcpy(at, &head, 2);
  return at + 2;
}

// Head, depth where it changed, end relative to the record before. Returns where the fields go.
inline uint8_t* put_timed_head(Writer& writer, unsigned kind_and_flags, uint8_t depth,
                               uint64_t end) {
  Cursor& cursor = writer.cursor();
  uint8_t* at = cursor.at;
  uint8_t& last = writer.last_depth();
  if (FATHOM_UNLIKELY(depth != last)) {
    at = put_head(at, kind_and_flags | FATHOM_FLAG_DEPTH);
    *at++ = last = depth;
  } else {
    at = put_head(at, kind_and_flags);
  }
  // A nested cursor may have been given a later tick by its SWITCH than a call that began before:
  // time never runs backwards.
  const uint64_t delta = end > cursor.last_end ? end - cursor.last_end : 0;
  cursor.last_end = cursor.last_end + delta;
  return fathom_put_varint(at, delta);
}

// A record with an end and nothing else.
void write_timed(unsigned kind);
// A record with one id and no time.
void write_id(unsigned kind, uint32_t id);

}  // namespace fathom::guest
