// SPDX-License-Identifier: MIT
// The parts of the hooks that need no driver. What they do together: tests/e2e/test_cuda.py.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "sources/cuda/amounts.guest.h"
#include "sources/cuda/handles.guest.h"
#include "sources/cuda/results.guest.h"

namespace fathom::guest {

// The runtime, of which nothing is there but what system calls ask before they are made.
__thread Tls tls __attribute__((tls_model("initial-exec"))) = {};
constinit Live nothing_on = {};
constinit char spool_room[kSpoolRoom] = {};
constinit Guest guest = {};

}  // namespace fathom::guest

namespace fathom::guest::cuda {
namespace {

TEST(HandleTable, KnowsForgetsAndKnowsAgain) {
  HandleTable<64> table;
  EXPECT_EQ(table.find(4096).first, 0U) << "nothing is mapped yet";
  EXPECT_TRUE(table.put(4096, {7, 9}));
  EXPECT_EQ(table.find(4096).first, 7U);
  EXPECT_EQ(table.find(4096).second, 9U);
  EXPECT_TRUE(table.put(4096, {8, 1})) << "new values for a known handle";
  EXPECT_EQ(table.take(4096).first, 8U);
  EXPECT_EQ(table.take(4096).first, 0U);
  EXPECT_TRUE(table.put(4096, {5, 5})) << "a handle is used again";
  EXPECT_EQ(table.find(4096).first, 5U);
}

TEST(HandleTable, HandlesThatAreNone) {
  HandleTable<64> table;
  for (const std::uint64_t handle : {0, 1}) {
    EXPECT_FALSE(table.put(handle, {7, 9}));
    EXPECT_EQ(table.find(handle).first, 0U);
    EXPECT_EQ(table.take(handle).first, 0U);
  }
}

TEST(HandleTable, FullAndEmptiedAgain) {
  HandleTable<64> table;
  for (std::uint64_t handle = 2; handle < 66; handle++) EXPECT_TRUE(table.put(handle, {handle, 0}));
  EXPECT_FALSE(table.put(1000, {1, 1}));
  for (std::uint64_t handle = 2; handle < 66; handle++) EXPECT_EQ(table.take(handle).first, handle);
  for (std::uint64_t handle = 200; handle < 264; handle++)
    EXPECT_TRUE(table.put(handle, {handle, 0})) << "room that was used before";
}

TEST(HandleTable, ForgetsByTheSecondValue) {
  HandleTable<64> table;
  for (std::uint64_t handle = 10; handle < 30; handle++) table.put(handle, {1, handle % 3});
  table.forget(2, 0);
  for (std::uint64_t handle = 10; handle < 30; handle++)
    EXPECT_EQ(table.find(handle).first, handle % 3 == 1 ? 1U : 0U);
}

TEST(HandleTable, ThreadsWithHandlesOfTheirOwn) {
  HandleTable<1u << 14> table;
  std::vector<std::thread> threads;
  for (std::uint64_t owner = 1; owner <= 4; owner++) {
    threads.emplace_back([&table, owner] {
      for (std::uint64_t i = 0; i < 5000; i++) {
        const std::uint64_t handle = owner << 32 | (i % 512) << 9 | 256;
        ASSERT_TRUE(table.put(handle, {i + 1, owner}));
        const Known known = table.take(handle);
        ASSERT_EQ(known.first, i + 1);
        ASSERT_EQ(known.second, owner);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

template <class T>
void put_at(unsigned char* structure, std::size_t offset, T value) {
  std::memcpy(structure + offset, &value, sizeof value);
}

TEST(Amounts, OfDescriptors) {
  unsigned char copy[256] = {};
  put_at(copy, 112, std::uint64_t{100});
  put_at(copy, 120, std::uint64_t{6});
  EXPECT_EQ(copy_2d_bytes(copy), 600U);
  put_at(copy, 176, std::uint64_t{10});
  put_at(copy, 184, std::uint64_t{20});
  put_at(copy, 192, std::uint64_t{3});
  EXPECT_EQ(copy_3d_bytes(copy), 600U);
}

TEST(Amounts, OfLists) {
  unsigned char operations[2 * 112] = {};
  for (const std::size_t at : {80U, 80U + 112U}) {
    put_at(operations, at, std::uint64_t{8});
    put_at(operations, at + 8, std::uint64_t{4});
    put_at(operations, at + 16, std::uint64_t{2});
  }
  EXPECT_EQ(copies_3d_bytes(2, operations), 128U);
  const std::size_t sizes[] = {1, 20, 300};
  EXPECT_EQ(sum_of(sizes, 3), 321U);
  EXPECT_EQ(sum_of(nullptr, 0), 0U);
}

TEST(Amounts, OfArrays) {
  unsigned char flat[24] = {};
  put_at(flat, 0, std::uint64_t{64});
  put_at(flat, 16, std::uint32_t{0x20});  // float
  put_at(flat, 20, std::uint32_t{4});
  EXPECT_EQ(array_bytes(flat), 64U * 4 * 4) << "no height is one row";
  unsigned char deep[32] = {};
  put_at(deep, 0, std::uint64_t{8});
  put_at(deep, 8, std::uint64_t{4});
  put_at(deep, 24, std::uint32_t{0x10});  // half
  put_at(deep, 28, std::uint32_t{1});
  EXPECT_EQ(array_3d_bytes(deep), 8U * 4 * 2);
  EXPECT_EQ(mipmap_bytes(deep, 3), (8U * 4 + 4 * 2 + 2 * 1) * 2);
}

TEST(Amounts, DirectionOfMemoryTypes) {
  EXPECT_EQ(direction_of(1, 2), Direction::kHostToDevice);
  EXPECT_EQ(direction_of(2, 1), Direction::kDeviceToHost);
  EXPECT_EQ(direction_of(3, 2), Direction::kDeviceToDevice);
  EXPECT_EQ(direction_of(1, 1), Direction::kHostToHost);
  EXPECT_EQ(direction_of(4, 2), Direction::kNone) << "a unified address does not say";
}

TEST(Spec, TwinsByTheirSymbols) {
  EXPECT_TRUE(per_thread({.name = "", .entry = "cuMemcpy_ptds", .category = ""}));
  EXPECT_TRUE(per_thread({.name = "", .entry = "cuMemcpyHtoD_v2_ptds", .category = ""}));
  EXPECT_TRUE(per_thread({.name = "", .entry = "cuLaunchKernel_ptsz", .category = ""}));
  EXPECT_FALSE(per_thread({.name = "", .entry = "cuLaunchKernel", .category = ""}));
  EXPECT_FALSE(per_thread({.name = "", .entry = "ptsz", .category = ""}));
}

TEST(Results, AreInOrder) {
  unsigned last = 0;
  for (const ResultName& result : kResults) {
    EXPECT_GT(result.number, last);
    last = result.number;
  }
}

}  // namespace
}  // namespace fathom::guest::cuda
