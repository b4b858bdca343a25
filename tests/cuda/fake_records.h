// SPDX-License-Identifier: MIT
// CUPTI's records as they lie in a buffer, by the offsets and sizes of CUDA 13.0's headers.
#pragma once

#include <cstdint>
#include <cstring>

#include "fake_work.h"

namespace fake {

inline constexpr std::uint64_t kRecordNs = 5000;  // that a piece of work takes

template <class T>
void put(std::uint8_t* record, std::size_t offset, T value) {
  std::memcpy(record + offset, &value, sizeof value);
}

inline std::size_t size_of_kind(int kind) {
  switch (kind) {
    case kKernel:
      return 216;
    case kSet:
      return 88;
    case kSync:
    case kGraph:
      return 56;
    default:
      return 96;
  }
}

inline std::size_t size_of_record(const std::uint8_t* record) {
  int kind = 0;
  std::memcpy(&kind, record, sizeof kind);
  return size_of_kind(kind);
}

inline void write_kernel(std::uint8_t* record, const Work& work, std::uint32_t correlation) {
  put<std::uint16_t>(record, 6, 32);  // registers
  put<std::uint32_t>(record, 40, static_cast<std::uint32_t>(work.device));
  put<std::uint32_t>(record, 44, 1);
  put(record, 48, static_cast<std::uint32_t>(work.stream));
  std::memcpy(record + 52, work.extents, sizeof work.extents);
  put(record, 80, work.shared);
  put(record, 92, correlation);
  put(record, 104, work.name);
  put(record, 144, work.node);
  put(record, 156, work.graph);
}

inline void write_transfer(std::uint8_t* record, const Work& work, std::uint32_t correlation) {
  put(record, 8, work.bytes);
  put<std::uint32_t>(record, 32, static_cast<std::uint32_t>(work.device));
  put<std::uint32_t>(record, 36, 1);
  put(record, 40, static_cast<std::uint32_t>(work.stream));
  const bool peer = work.record == kPeerCopy;
  if (work.record != kSet) put(record, 4, static_cast<std::uint8_t>(work.copy_kind));
  put(record, peer ? 60 : 44, correlation);
  put(record, peer ? 72 : 64, work.node);
  put(record, peer ? 80 : 72, work.graph);
}

// Returns its size.
inline std::size_t write_record(std::uint8_t* record, const Work& work, std::uint64_t begin,
                                std::uint64_t end, std::uint32_t correlation) {
  put(record, 0, work.record);
  const std::size_t times = work.record == kSync || work.record == kGraph ? 8 : 16;
  put(record, times, begin);
  put(record, times + 8, end);
  if (work.record == kKernel) {
    write_kernel(record, work, correlation);
  } else if (work.record == kSync) {
    put(record, 4, work.sync_type);
    put(record, 24, correlation);
    put<std::uint32_t>(record, 28, 1);
    put(record, 32, static_cast<std::uint32_t>(work.stream));
  } else if (work.record == kGraph) {
    put(record, 4, correlation);
    put<std::uint32_t>(record, 24, static_cast<std::uint32_t>(work.device));
    put(record, 28, work.graph);
    put<std::uint32_t>(record, 32, 1);
    put(record, 36, static_cast<std::uint32_t>(work.stream));
  } else {
    write_transfer(record, work, correlation);
  }
  return size_of_kind(work.record);
}

}  // namespace fake
