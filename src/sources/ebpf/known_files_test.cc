// SPDX-License-Identifier: MIT
#include "sources/ebpf/known_files.h"

#include <gtest/gtest.h>

#include "sources/ebpf/shared.h"
#include "trace/rows/summary.h"

namespace fathom::sources::ebpf {
namespace {

std::string path_of(const KnownFiles& files, std::uint32_t number) {
  const std::string* path = files.find(number);
  return path == nullptr ? "" : *path;
}

TEST(EbpfKnownFiles, AUserDoesNotTakeTheRoomOfOthers) {
  KnownFiles files(1000, 100);
  for (std::uint32_t number = 10; number < 40; ++number) files.add(number, "/ten/bytes", 1000, 0);
  EXPECT_LE(files.bytes(), 100U);
  EXPECT_EQ(path_of(files, 10), "/ten/bytes");
  EXPECT_EQ(path_of(files, 39), trace::kOtherFiles);
  EXPECT_EQ(files.take_nameless(), 20);
  EXPECT_EQ(files.take_nameless(), 0);
  files.add(50, "/ten/bytes", 1001, 0);
  EXPECT_EQ(path_of(files, 50), "/ten/bytes");
}

TEST(EbpfKnownFiles, AllTogetherHaveALimit) {
  KnownFiles files(100, 100);
  for (std::uint32_t user = 0; user < 50; ++user) files.add(10 + user, "/ten/bytes", user, 0);
  EXPECT_EQ(files.bytes(), 100U);
  EXPECT_EQ(files.take_nameless(), 40);
}

TEST(EbpfKnownFiles, WhatIsForgottenMakesRoom) {
  KnownFiles files(100, 20);
  files.add(10, "/ten/bytes", 1, 0);
  files.add(11, "/ten/bytes", 1, 0);
  files.forget({10});
  EXPECT_EQ(path_of(files, 10), "/ten/bytes") << "calls may be under way";
  files.forget({});
  EXPECT_EQ(files.find(10), nullptr);
  files.add(12, "/ten/bytes", 1, 0);
  EXPECT_EQ(path_of(files, 12), "/ten/bytes");
}

// A file that is renamed and opened for ever gets numbers for ever.
TEST(EbpfKnownFiles, NumbersUnderOtherNamesGo) {
  KnownFiles files(1 << 20, 1 << 20);
  files.add(10, "/name", 1, 0);
  for (std::uint32_t number = 11; number < 1000; ++number) {
    files.add(number, "/name", 1, number - 1);
    files.forget_replaced(number, 10);
  }
  EXPECT_EQ(files.size(), 12U);
  EXPECT_EQ(files.find(500), nullptr);
  EXPECT_EQ(path_of(files, 999), "/name");
}

// The first look may come long after the names, and what bears them later still.
TEST(EbpfKnownFiles, ANumberThatWasReplacedIsKnownForAWhile) {
  KnownFiles files(1 << 20, 1 << 20);
  files.add(10, "/old", 1, 0);
  files.add(11, "/new", 1, 10);
  files.forget_replaced(1'000'000, 100);
  EXPECT_EQ(path_of(files, 10), "/old");
  files.forget_replaced(1'000'100, 100);
  EXPECT_EQ(path_of(files, 10), "/old");
  files.forget_replaced(1'000'101, 100);
  EXPECT_EQ(files.find(10), nullptr);
}

TEST(EbpfKnownFiles, TheOthersAreKnown) {
  const KnownFiles files(0, 0);
  EXPECT_EQ(path_of(files, FATHOM_BPF_OTHERS), trace::kOtherFiles);
  EXPECT_EQ(files.find(7), nullptr);
}

}  // namespace
}  // namespace fathom::sources::ebpf
