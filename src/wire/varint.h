/* SPDX-License-Identifier: MIT
   Numbers of 1 to 9 bytes (docs/formats/spool.md, "Numbers"). The count of trailing zero bits of
   the first byte tells how many bytes follow, so that the writer needs one store and no loop, and
   the reader one load. */
#pragma once

#include <stdint.h>
#include <string.h>

/* A writer stores 8 bytes at once: this much room must exist behind the last number. */
#define FATHOM_VARINT_SLACK 9

#define FATHOM_VARINT_INLINE static inline __attribute__((always_inline))

FATHOM_VARINT_INLINE uint8_t* fathom_put_varint(uint8_t* at, uint64_t value) {
  const unsigned bits = 64u - (unsigned)__builtin_clzll(value | 1);
  const unsigned bytes = (bits + 6) * 37 / 256; /* (bits + 6) / 7, without a division */
  if (__builtin_expect(bytes > 8, 0)) {
    at[0] = 0;
    memcpy(at + 1, &value, 8);
    return at + 9;
  }
  const uint64_t word = (value << bytes) | (UINT64_C(1) << (bytes - 1));
  memcpy(at, &word, 8);
  return at + bytes;
}

/* Reads a number that must lie before `end`; NULL when it does not. */
static inline const uint8_t* fathom_get_varint(const uint8_t* at, const uint8_t* end,
                                               uint64_t* value) {
  if (at >= end) return 0;
  uint64_t word = 0;
  if (at[0] == 0) {
    if (end - at < 9) return 0;
    memcpy(value, at + 1, 8);
    return at + 9;
  }
  const unsigned bytes = (unsigned)__builtin_ctz(at[0]) + 1;
  if ((unsigned)(end - at) < bytes) return 0;
  if (end - at >= 8) {
    memcpy(&word, at, 8);
    if (bytes < 8) word &= (UINT64_C(1) << (8 * bytes)) - 1;
  } else {
    memcpy(&word, at, bytes);
  }
  *value = word >> bytes;
  return at + bytes;
}

static inline uint64_t fathom_zigzag(int64_t value) {
  return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}
static inline int64_t fathom_unzigzag(uint64_t value) {
  return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}
