// SPDX-License-Identifier: MIT
#include "sources/perf/record_queue.h"

#include <gtest/gtest.h>

#include <string>

namespace fathom::sources {
namespace {

void add(RecordQueue& queue, std::uint64_t time, const std::string& text) {
  queue.add(time, std::as_bytes(std::span(text)));
}

std::string released(RecordQueue& queue, std::uint64_t until) {
  std::string all;
  queue.release(until, [&](std::span<const std::byte> record) {
    all += std::string(reinterpret_cast<const char*>(record.data()), record.size()) + " ";
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(record.data()) % 8, 0U);
  });
  return all;
}

TEST(RecordQueue, TellsThemInOrderOfTime) {
  RecordQueue queue;
  add(queue, 5, "out on one");
  add(queue, 9, "later");
  add(queue, 3, "first");
  add(queue, 5, "in on another");
  EXPECT_EQ(released(queue, 9), "first out on one in on another ");
  add(queue, 6, "late");
  EXPECT_EQ(released(queue, 10), "late later ");
  EXPECT_EQ(released(queue, ~std::uint64_t{0}), "");
  EXPECT_EQ(queue.bytes(), 0U);
}

}  // namespace
}  // namespace fathom::sources
