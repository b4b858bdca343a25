// SPDX-License-Identifier: MIT
#include "trace/spool/chunk_log.h"

#include <gtest/gtest.h>

#include <cstring>

#include "trace/testing/spool_builder.h"

namespace fathom::trace {
namespace {

using testing::TempDir;

TEST(ChunkLogTest, EveryKindComesBack) {
  const TempDir directory;
  const std::string path = join_path(directory.path(), "log");
  const EntryKind kinds[] = {EntryKind::kChunk, EntryKind::kRows, EntryKind::kLosses,
                             EntryKind::kProcesses, EntryKind::kLives};
  const std::vector<std::uint8_t> payload(5, 7);
  ChunkLog log = ChunkLog::open(Directory::open(directory.path()).value(), "log").value();
  for (const EntryKind kind : kinds)
    ASSERT_TRUE(log.append({kind, {1, 2, 3}, 9, payload}).has_value());
  const std::string content = read_file(path).value();
  std::vector<EntryKind> back;
  scan_log({reinterpret_cast<const std::uint8_t*>(content.data()), content.size()},
           [&](const LogEntry& entry, std::uint64_t) { back.push_back(entry.kind); });
  EXPECT_EQ(back, std::vector<EntryKind>(std::begin(kinds), std::end(kinds)));
}

TEST(ChunkLogTest, SoundEntriesSurviveDamage) {
  const TempDir directory;
  const std::string path = join_path(directory.path(), "log");
  const std::vector<std::uint8_t> payload(50, 7);
  {
    ChunkLog log = ChunkLog::open(Directory::open(directory.path()).value(), "log").value();
    for (std::uint32_t i = 0; i < 3; i++)
      ASSERT_TRUE(log.append({EntryKind::kChunk, {1, i, 0}, 9, payload}).has_value());
  }
  const std::string sound = read_file(path).value();
  const auto count = [](const std::string& content) {
    int entries = 0;
    scan_log({reinterpret_cast<const std::uint8_t*>(content.data()), content.size()},
             [&](const LogEntry& entry, std::uint64_t) {
               entries += entry.bytes.size() == 50 && entry.schema == 9 ? 1 : 0;
             });
    return entries;
  };
  EXPECT_EQ(count(sound), 3);
  for (std::size_t at = 0; at < sound.size(); at++) {
    std::string flipped = sound;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    EXPECT_EQ(count(flipped), 2) << at;
    EXPECT_EQ(count(sound.substr(0, at)), static_cast<int>(at / 90)) << at;
  }
  // A torn end is cut away before more is written.
  ASSERT_TRUE(write_file_atomic(path, sound.substr(0, 200)).has_value());
  ChunkLog log = ChunkLog::open(Directory::open(directory.path()).value(), "log").value();
  EXPECT_EQ(log.size(), 180U);
  ASSERT_TRUE(log.append({EntryKind::kChunk, {1, 9, 0}, 9, payload}).has_value());
  EXPECT_EQ(count(read_file(path).value()), 3);
}

// Heads that claim megabytes, and are wrong: the time grows with the size, not with its square.
TEST(ChunkLogTest, FalseHeadsAreDamage) {
  const TempDir directory;
  const Directory opened = Directory::open(directory.path()).value();
  {
    ChunkLog log = ChunkLog::open(opened, "log").value();
    const std::vector<std::uint8_t> payload(50, 7);
    ASSERT_TRUE(log.append({EntryKind::kChunk, {1, 0, 0}, 9, payload}).has_value());
  }
  const std::string sound = opened.read_whole("log", 1000).value();
  std::string head = sound.substr(0, 40);
  const std::uint32_t length = 4U << 20;
  std::memcpy(head.data() + 32, &length, sizeof length);
  std::string content = sound;
  while (content.size() < std::size_t{12} << 20) content += head;
  ASSERT_TRUE(opened.write_atomic("log", content).has_value());
  int entries = 0;
  const auto visit = [&](const LogEntry&, std::uint64_t) { entries++; };
  const Result<LogScan> scan = scan_log(*opened.read("log"), 0, kMostLogBytes, visit);
  ASSERT_TRUE(scan.has_value());
  EXPECT_EQ(entries, 1);
  EXPECT_EQ(scan->sound_bytes, 90U);
  EXPECT_EQ(scan->damaged_bytes, content.size() - 90);
}

// Windows meet anywhere in an entry.
TEST(ChunkLogTest, AFileIsReadInWindows) {
  const TempDir directory;
  const Directory opened = Directory::open(directory.path()).value();
  const std::vector<std::uint8_t> payload((1U << 20) + 4321, 5);
  constexpr std::uint32_t kEntries = 30;
  {
    ChunkLog log = ChunkLog::open(opened, "log").value();
    for (std::uint32_t i = 0; i < kEntries; i++)
      ASSERT_TRUE(log.append({EntryKind::kChunk, {1, i, 0}, 9, payload}).has_value());
  }
  std::vector<std::uint32_t> seen;
  const auto visit = [&](const LogEntry& entry, std::uint64_t offset) {
    EXPECT_EQ(entry.bytes.size(), payload.size());
    EXPECT_EQ(offset, seen.size() * (payload.size() + 40));
    seen.push_back(entry.name.index);
  };
  const Result<LogScan> scan = scan_log(*opened.read("log"), 0, kMostLogBytes, visit);
  ASSERT_TRUE(scan.has_value());
  EXPECT_EQ(seen.size(), kEntries);
  EXPECT_EQ(scan->damaged_bytes, 0U);
  // What lies beyond the limit is not read, and told.
  seen.clear();
  const Result<LogScan> limited = scan_log(*opened.read("log"), 0, 3U << 20, visit);
  EXPECT_EQ(seen.size(), 2U);
  EXPECT_GT(limited->damaged_bytes, payload.size() * 27);
}

}  // namespace
}  // namespace fathom::trace
