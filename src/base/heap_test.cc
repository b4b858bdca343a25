// SPDX-License-Identifier: MIT
#include "base/heap.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

namespace fathom {
namespace {

long resident_bytes() {
  std::ifstream file("/proc/self/statm");
  long all = 0;
  long resident = 0;
  file >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

TEST(Heap, WhatLiesIdleBetweenOthersGoesBack) {
  constexpr std::size_t kBlock = 64 << 10;  // below malloc's own limit for giving back at once
  constexpr std::size_t kBlocks = 1000;
  std::vector<std::unique_ptr<char[]>> large, small;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    large.push_back(std::make_unique<char[]>(kBlock));
    std::memset(large.back().get(), 1, kBlock);
    small.push_back(std::make_unique<char[]>(32));
  }
  large.clear();
#if __GLIBC_PREREQ(2, 33)
  if (mallinfo2().fordblks < kBlocks * kBlock / 2) GTEST_SKIP() << "another malloc";
  const long before = resident_bytes();
  trim_heap(kBlocks * kBlock * 2);
  EXPECT_GT(resident_bytes(), before - static_cast<long>(kBlocks * kBlock / 2)) << "not that much";
  trim_heap(kBlock);
  EXPECT_LT(resident_bytes(), before - static_cast<long>(kBlocks * kBlock / 2));
#endif
}

}  // namespace
}  // namespace fathom
