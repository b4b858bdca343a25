// SPDX-License-Identifier: MIT
// Counters that the kernel had to share among too many events. Those of software never are, so
// the numbers of a real counter are replaced by ones that a test wrote.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"
#include "perf/counting.h"

namespace fathom::perf {
namespace {

// What read() of a counter gives: its value, and for how long it was wanted and did count.
using Numbers = std::array<std::uint64_t, 3>;

// From here on this descriptor is a file with these numbers.
void replace(int fd, const Numbers& numbers) {
  const int file = ::memfd_create("numbers", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::write(file, numbers.data(), sizeof numbers), static_cast<ssize_t>(sizeof numbers));
  ASSERT_EQ(::lseek(file, 0, SEEK_SET), 0);
  ASSERT_EQ(::dup2(file, fd), fd);
  ::close(file);
}

bool is_counter(const std::string& fd) {
  char target[64] = {};
  const std::string path = "/proc/self/fd/" + fd;
  return ::readlink(path.c_str(), target, sizeof target - 1) > 0 &&
         std::string(target) == "anon_inode:[perf_event]";
}

// Of a counter of this process that reads so; nothing where nobody may count here.
std::vector<Count> counted(const Numbers& numbers) {
  const Result<Counting> counting =
      Counting::open(parse_events("page-faults:u").value(), ::getpid(), Counting::Start::kNow);
  if (!counting || counting->opened() == 0) return {};
  const std::vector<std::string> descriptors = list_dir("/proc/self/fd").value();
  for (const std::string& fd : descriptors) {
    if (is_counter(fd)) replace(std::stoi(fd), numbers);
  }
  return counting->read();
}

TEST(SharedCounters, AreScaledToTheWholeTime) {
  const std::vector<Count> counts = counted({1000, 400, 100});
  if (counts.empty()) GTEST_SKIP() << "page faults cannot be counted here";
  ASSERT_EQ(counts.size(), 1U);
  EXPECT_EQ(counts[0].value, 4000);
  EXPECT_EQ(counts[0].coverage, 0.25);
}

TEST(SharedCounters, WhatAlwaysCountedIsNotScaled) {
  const std::vector<Count> counts = counted({1000, 400, 400});
  if (counts.empty()) GTEST_SKIP() << "page faults cannot be counted here";
  ASSERT_EQ(counts.size(), 1U);
  EXPECT_EQ(counts[0].value, 1000);
  EXPECT_EQ(counts[0].coverage, 1);
}

TEST(SharedCounters, WhatNeverCountedHasAReasonAndNoZero) {
  const std::vector<Count> counts = counted({0, 400, 0});
  if (counts.empty()) GTEST_SKIP() << "page faults cannot be counted here";
  ASSERT_EQ(counts.size(), 1U);
  EXPECT_FALSE(counts[0].value);
  EXPECT_EQ(counts[0].reason, "the counters were always busy with other events");
}

}  // namespace
}  // namespace fathom::perf
