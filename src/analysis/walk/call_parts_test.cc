// SPDX-License-Identifier: MIT
#include "analysis/walk/call_parts.h"

#include <gtest/gtest.h>

namespace fathom::analysis {
namespace {

enum Kind : std::uint32_t { kCall, kSystem, kCache, kDevice, kWait };

struct Row {
  std::uint32_t kind;
  std::int64_t calls, total, self;
  bool operator==(const Row&) const = default;
};

std::vector<Row> rows_of(const CallParts& parts) {
  const std::vector<std::int64_t> totals = parts.totals();
  std::vector<Row> rows;
  for (std::size_t i = 0; i < parts.nodes().size(); ++i) {
    const CallNode& node = parts.nodes()[i];
    rows.push_back({node.kind, node.calls, totals[i], node.self});
  }
  return rows;
}

// A read that misses: it looks, asks the device at 30, sleeps from 35 to 80, the device is done at
// 78.
TEST(CallParts, AddUpToTheCall) {
  CallParts parts(kCall);
  parts.add({.ts = 0, .dur = 100}, {{.ts = 10, .dur = 85, .rank = 1, .kind = kSystem},
                                    {.ts = 20, .dur = 0, .rank = 2, .kind = kCache},
                                    {.ts = 30, .dur = 48, .rank = 3, .kind = kDevice},
                                    {.ts = 35, .dur = 45, .rank = 4, .kind = kWait}});
  EXPECT_EQ(rows_of(parts), (std::vector<Row>{{kCall, 1, 100, 15},
                                              {kSystem, 1, 85, 35},
                                              {kCache, 1, 0, 0},
                                              {kDevice, 1, 48, 5},
                                              {kWait, 1, 43, 43},
                                              {kWait, 0, 2, 2}}));
}

TEST(CallParts, WhatReachesBeyondIsCut) {
  CallParts parts(kCall);
  parts.add({.ts = 100, .dur = 50}, {{.ts = 99, .dur = 10, .rank = 1, .kind = kSystem},
                                     {.ts = 140, .dur = 1000, .rank = 3, .kind = kDevice},
                                     {.ts = 500, .dur = 10, .rank = 3, .kind = kCache}});
  EXPECT_EQ(rows_of(parts),
            (std::vector<Row>{
                {kCall, 1, 50, 31}, {kSystem, 1, 9, 9}, {kDevice, 1, 10, 10}, {kCache, 1, 0, 0}}));
}

TEST(CallParts, CallsThatTouchAreNotInsideEachOther) {
  CallParts parts(kCall);
  parts.add({.ts = 0, .dur = 20}, {{.ts = 0, .dur = 10, .rank = 1, .kind = kSystem},
                                   {.ts = 10, .dur = 10, .rank = 1, .kind = kSystem}});
  parts.add({.ts = 50, .dur = 5}, {});
  EXPECT_EQ(rows_of(parts), (std::vector<Row>{{kCall, 2, 25, 5}, {kSystem, 2, 20, 20}}));
}

}  // namespace
}  // namespace fathom::analysis
