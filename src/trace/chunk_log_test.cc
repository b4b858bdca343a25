// SPDX-License-Identifier: MIT
#include "trace/chunk_log.h"

#include <gtest/gtest.h>

#include "trace/testing/spool_builder.h"

namespace fathom::trace {
namespace {

using testing::TempDir;

TEST(ChunkLogTest, EveryKindComesBack) {
  const TempDir directory;
  const std::string path = join_path(directory.path(), "log");
  const EntryKind kinds[] = {EntryKind::kChunk, EntryKind::kRows, EntryKind::kLosses,
                             EntryKind::kProcesses};
  const std::vector<std::uint8_t> payload(5, 7);
  ChunkLog log = ChunkLog::open(path).value();
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
    ChunkLog log = ChunkLog::open(path).value();
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
  ChunkLog log = ChunkLog::open(path).value();
  EXPECT_EQ(log.size(), 180U);
  ASSERT_TRUE(log.append({EntryKind::kChunk, {1, 9, 0}, 9, payload}).has_value());
  EXPECT_EQ(count(read_file(path).value()), 3);
}

}  // namespace
}  // namespace fathom::trace
