// SPDX-License-Identifier: MIT
// How many bytes a call is about, out of its arguments and the structures that they point at. Only
// of calls that worked: a bad pointer is the driver's to refuse.
#pragma once

#include <string.h>

#include "sources/cuda/spec.guest.h"

namespace fathom::guest::cuda {

inline uint64_t word_at(const void* structure, size_t offset) {
  uint64_t word = 0;
  memcpy(&word, static_cast<const char*>(structure) + offset, sizeof word);
  return word;
}
inline uint32_t half_at(const void* structure, size_t offset) {
  uint32_t half = 0;
  memcpy(&half, static_cast<const char*>(structure) + offset, sizeof half);
  return half;
}

inline uint64_t copy_2d_bytes(const void* copy) { return word_at(copy, 112) * word_at(copy, 120); }
inline uint64_t copy_3d_bytes(const void* copy) {
  return word_at(copy, 176) * word_at(copy, 184) * word_at(copy, 192);
}

inline uint64_t copies_3d_bytes(size_t count, const void* copies) {
  constexpr size_t kOperation = 112, kExtent = 80;
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) {
    const char* extent = static_cast<const char*>(copies) + i * kOperation + kExtent;
    sum += word_at(extent, 0) * word_at(extent, 8) * word_at(extent, 16);
  }
  return sum;
}

// What comes out: the bytes at offset 8 of each operation.
inline uint64_t decompressed_bytes(const void* operations, size_t count) {
  constexpr size_t kOperation = 64;
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += word_at(static_cast<const char*>(operations) + i * kOperation, 8);
  return sum;
}

inline uint64_t sum_of(const size_t* sizes, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) sum += sizes[i];
  return sum;
}

// Bytes of an element by its CUarray_format; those that are compressed or planar count as one.
inline uint64_t format_bytes(uint32_t format) {
  switch (format) {
    case 0x02:  // 16 bits
    case 0x09:
    case 0x10:
      return 2;
    case 0x03:  // 32 bits
    case 0x0a:
    case 0x20:
      return 4;
    default:
      return 1;
  }
}

inline uint64_t at_least_one(uint64_t value) { return value != 0 ? value : 1; }

inline uint64_t array_bytes(const void* description) {
  return word_at(description, 0) * at_least_one(word_at(description, 8)) *
         half_at(description, 20) * format_bytes(half_at(description, 16));
}
inline uint64_t array_3d_bytes(const void* description, unsigned level = 0) {
  return at_least_one(word_at(description, 0) >> level) *
         at_least_one(word_at(description, 8) >> level) *
         at_least_one(word_at(description, 16) >> level) * half_at(description, 28) *
         format_bytes(half_at(description, 24));
}
inline uint64_t mipmap_bytes(const void* description, unsigned levels) {
  uint64_t sum = 0;
  for (unsigned level = 0; level < levels && level < 32; level++)
    sum += array_3d_bytes(description, level);
  return sum;
}

// From two CUmemorytypes: 1 is the host, 2 a device, 3 an array. Where one is a unified address
// (4), it is not said.
inline Direction direction_of(uint32_t from, uint32_t to) {
  constexpr uint32_t kHost = 1, kUnified = 4;
  if (from == kUnified || to == kUnified) return Direction::kNone;
  if (from == kHost) return to == kHost ? Direction::kHostToHost : Direction::kHostToDevice;
  return to == kHost ? Direction::kDeviceToHost : Direction::kDeviceToDevice;
}

template <int I, class First, class... Rest>
constexpr auto argument(First first, Rest... rest) {
  if constexpr (I == 0) {
    return first;
  } else {
    return argument<I - 1>(rest...);
  }
}

template <const Spec& S, class... A>
inline uint64_t amount_of(A... a) {
  if constexpr (S.amount == Amount::kArgument) {
    return argument<S.size>(a...);
  } else if constexpr (S.amount == Amount::kElements) {
    return argument<S.size>(a...) * S.unit;
  } else if constexpr (S.amount == Amount::kRows) {
    return argument<S.size>(a...) * argument<S.size + 1>(a...) * S.unit;
  } else if constexpr (S.amount == Amount::kPitch) {
    return *argument<S.size>(a...) * argument<S.size + 2>(a...);
  } else if constexpr (S.amount == Amount::kList) {
    return sum_of(argument<S.size>(a...), argument<S.size + 1>(a...));
  } else if constexpr (S.amount == Amount::kCopy2D) {
    return copy_2d_bytes(argument<S.size>(a...));
  } else if constexpr (S.amount == Amount::kCopy3D) {
    return copy_3d_bytes(argument<S.size>(a...));
  } else if constexpr (S.amount == Amount::kCopies3D) {
    return copies_3d_bytes(argument<S.size>(a...), argument<S.size + 1>(a...));
  } else if constexpr (S.amount == Amount::kDecompress) {
    return decompressed_bytes(argument<S.size>(a...), argument<S.size + 1>(a...));
  } else if constexpr (S.amount == Amount::kArray) {
    return array_bytes(argument<S.size>(a...));
  } else if constexpr (S.amount == Amount::kArray3D) {
    return array_3d_bytes(argument<S.size>(a...));
  } else if constexpr (S.amount == Amount::kMipmap) {
    return mipmap_bytes(argument<S.size>(a...), argument<S.size + 1>(a...));
  } else {
    return 0;
  }
}

}  // namespace fathom::guest::cuda
