// SPDX-License-Identifier: MIT
#include "perf/ring.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "perf/event.h"
#include "perf/open.h"
#include "perf/records.h"

namespace fathom::perf {
namespace {

// A ring that a test writes as the kernel does.
class Written {
 public:
  explicit Written(std::size_t bytes) : data_(bytes) {}

  // A record of `size` bytes, whose body repeats one letter.
  void put(std::uint16_t size, char letter) {
    std::string record(size, letter);
    const perf_event_header header{.type = 77, .misc = 0, .size = size};
    std::memcpy(record.data(), &header, sizeof header);
    put_bytes(record);
  }
  void put_bytes(const std::string& bytes) {
    for (const char byte : bytes) {
      data_[page_.data_head % data_.size()] = static_cast<std::byte>(byte);
      ++page_.data_head;
    }
  }
  perf_event_mmap_page& page() { return page_; }
  RingReader reader() { return {&page_, data_}; }

 private:
  perf_event_mmap_page page_{};
  std::vector<std::byte> data_;
};

// "16a 24b": size and letter of each.
std::string drained(RingReader& reader) {
  std::string words;
  reader.drain([&](std::span<const std::byte> record) {
    words += std::to_string(record.size()) + static_cast<char>(record.back()) + " ";
    for (std::size_t i = sizeof(perf_event_header); i < record.size(); ++i)
      EXPECT_EQ(record[i], record.back());
  });
  return words;
}

TEST(Ring, RecordsComeInTheirOrderAndRoomIsFreed) {
  Written ring(64);
  RingReader reader = ring.reader();
  ring.put(16, 'a');
  ring.put(24, 'b');
  EXPECT_EQ(reader.waiting(), 40U);
  EXPECT_EQ(drained(reader), "16a 24b ");
  EXPECT_EQ(ring.page().data_tail, 40U);
  EXPECT_EQ(drained(reader), "");
}

TEST(Ring, RecordsAcrossTheWrapAreWhole) {
  Written ring(64);
  RingReader reader = ring.reader();
  for (int turn = 0; turn < 50; ++turn) {
    ring.put(40, 'x');
    ring.put(16, 'y');
    EXPECT_EQ(drained(reader), "40x 16y ") << turn;
  }
  EXPECT_EQ(reader.damaged(), 0U);
}

TEST(Ring, AHeaderAcrossTheWrapIsRead) {
  Written ring(32);
  RingReader reader = ring.reader();
  ring.put(28, 'a');  // the kernel keeps to 8 bytes; a damaged ring need not
  EXPECT_EQ(drained(reader), "28a ");
  ring.put(20, 'b');
  EXPECT_EQ(drained(reader), "20b ");
}

TEST(Ring, WhatMakesNoSenseIsDroppedAndCounted) {
  Written ring(64);
  RingReader reader = ring.reader();
  ring.put(16, 'a');
  ring.put_bytes(std::string(16, '\0'));  // a record of no size
  EXPECT_EQ(drained(reader), "16a ");
  EXPECT_EQ(reader.damaged(), 1U);
  EXPECT_EQ(reader.waiting(), 0U);
  ring.page().data_head += 1000;  // more than there is room for
  EXPECT_EQ(drained(reader), "");
  EXPECT_EQ(reader.damaged(), 2U);
  ring.put(16, 'c');
  EXPECT_EQ(drained(reader), "16c ");
}

// Smaller rings are tried only where there may be room for them.
TEST(Ring, WhatCannotBeMappedIsAnError) {
  const Result<Ring> ring = Ring::map(-1, std::size_t{1} << 20U);
  ASSERT_FALSE(ring);
  EXPECT_NE(ring.error().message.find("map a ring"), std::string::npos) << ring.error().message;
}

// The kernel's own ring: our own mapping of a page is told.
TEST(Ring, OfTheKernelTellsOfAName) {
  perf_event_attr attr = parse_event("dummy").value().attr();
  attr.exclude_kernel = 1;
  attr.comm = 1;
  attr.sample_id_all = 1;
  attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  const Result<Fd> fd = open_event(attr, {.pid = 0, .cpu = -1});
  if (!fd) GTEST_SKIP() << fd.error().message;
  Result<Ring> ring = Ring::map(fd->get(), 5000);
  if (!ring) GTEST_SKIP() << ring.error().message;
  EXPECT_EQ(ring->bytes(), 8192U);
  char before[16] = {};
  ASSERT_EQ(::pthread_getname_np(::pthread_self(), before, sizeof before), 0);
  ASSERT_EQ(::pthread_setname_np(::pthread_self(), "a new name"), 0);
  ::pthread_setname_np(::pthread_self(), before);
  const RecordReader reader(attr);
  std::vector<std::string> names;
  ring->drain([&](std::span<const std::byte> bytes) {
    const std::optional<Record> record = reader.read(bytes);
    ASSERT_TRUE(record);
    if (const auto* comm = std::get_if<Comm>(&record->body)) names.emplace_back(comm->name);
    EXPECT_GT(record->id.time, 0U);
  });
  EXPECT_EQ(names, (std::vector<std::string>{"a new name", before}));
}

}  // namespace
}  // namespace fathom::perf
