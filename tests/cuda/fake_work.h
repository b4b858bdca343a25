// SPDX-License-Identifier: MIT
// What the fake driver tells whoever watches it, which is the fake CUPTI alone: the real ones do it
// by tables of their own.
#pragma once

#include <cstdint>

namespace fake {

// Work of the device, or a wait for it; `record` is the kind of CUPTI's record.
struct Work {
  int record = 0;
  const char* name = nullptr;
  std::uint64_t bytes = 0;
  std::uint32_t extents[6] = {};
  std::uint32_t shared = 0;
  unsigned copy_kind = 0;  // as CUPTI numbers them
  unsigned sync_type = 0;
  std::uint64_t stream = 0;
  int device = 0;
  std::uint32_t graph = 0;
  std::uint64_t node = 0;
};
enum WorkRecord : int {
  kCopy = 1,
  kSet = 2,
  kKernel = 10,
  kPeerCopy = 22,
  kSync = 38,
  kGraph = 51
};

struct Watcher {
  void (*call)(bool exit, const char* symbol);
  void (*work)(const Work& work);
};

}  // namespace fake

// Of the fake driver: nullptr ends it.
extern "C" void fake_cuda_watch(const fake::Watcher* watcher);
