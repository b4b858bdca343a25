// SPDX-License-Identifier: MIT
// Pools that processes share: siblings that come one after the other, or at once.
#include "guest/pool.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>
#include <vector>

#include "base/testing/write_trap.h"
#include "guest/pool_file.h"
#include "guest/records.h"
#include "guest/testing/world.h"

namespace fathom::guest {
namespace {

class Pools : public ::testing::Test {
 protected:
  void SetUp() override { testing::enter_world(); }
};

size_t pool_files() {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(guest.out))
    count += entry.path().extension() == FATHOM_POOL_SUFFIX;
  return count;
}

void mark(uint32_t id) { write_id(FATHOM_KIND_THREAD_NAME, id); }

size_t marks_of_children(uint32_t id) {
  size_t count = 0;
  for (const auto& run : testing::read_spool().runs) {
    for (const uint64_t name : run.names) count += name == id;
  }
  return count;
}

TEST_F(Pools, SiblingsHandOneSegmentOn) {
  constexpr int kSiblings = 200;
  mark(70000);
  const size_t before = pool_files();
  for (int i = 0; i < kSiblings; i++) {
    const pid_t child = fork();
    if (child == 0) {
      testing::become_child();
      mark(70001);
      leave_segments();
      _exit(0);
    }
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
  }
  EXPECT_LE(pool_files(), before + 1);
  EXPECT_EQ(marks_of_children(70001), static_cast<size_t>(kSiblings));
}

// Each needs a segment of its own while all of them live: as many pools as that takes, and not one
// each. Makers take turns, but whoever waits too long makes his own: on a busy machine some do.
TEST_F(Pools, ACrowdMakesPoolsTogether) {
  constexpr int kCrowd = 60;
  const size_t before = pool_files();
  int gate[2], ready[2];
  ASSERT_EQ(pipe(gate), 0);
  ASSERT_EQ(pipe(ready), 0);
  std::vector<pid_t> crowd;
  for (int i = 0; i < kCrowd; i++) {
    const pid_t child = fork();
    if (child == 0) {
      char byte = 0;
      close(gate[1]);
      testing::become_child();
      mark(70002);
      (void)!write(ready[1], &byte, 1);
      (void)!read(gate[0], &byte, 1);
      _exit(0);
    }
    crowd.push_back(child);
  }
  char byte;
  for (int i = 0; i < kCrowd; i++) ASSERT_EQ(read(ready[0], &byte, 1), 1);
  for (const int fd : {gate[1], ready[0], ready[1]}) close(fd);
  for (const pid_t child : crowd) ASSERT_EQ(waitpid(child, nullptr, 0), child);
  close(gate[0]);
  EXPECT_EQ(marks_of_children(70002), static_cast<size_t>(kCrowd));
  EXPECT_LE(pool_files(), before + kCrowd / 4);
}

TEST_F(Pools, ASegmentWaitsForTheProgramThatComes) {
  mark(70003);
  const Cursor mine = tls.cursor;
  const auto used = static_cast<uint64_t>(mine.at - reinterpret_cast<uint8_t*>(mine.segment));
  release_segment(tls.cursor, FATHOM_SEGMENT_PARTIAL, guest.pid);
  if (static_cast<uint32_t>(mine.segment->claim) != FATHOM_SEGMENT_PARTIAL)
    GTEST_SKIP() << "it was more than half full";
  const pid_t other = fork();
  if (other == 0) {
    testing::become_child();
    mark(70004);
    _exit(tls.cursor.segment == mine.segment ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0) << "another process went on in it";
  EXPECT_TRUE(reclaim_segment(mine.segment, mine.segment->generation, used));
  tls.cursor = mine;
}

// In a segment of which less than a quarter is used.
void begin_afresh() {
  const auto used = [] { return tls.cursor.at - reinterpret_cast<uint8_t*>(tls.cursor.segment); };
  do acquire_segment();
  while (used() > static_cast<ptrdiff_t>(kSegmentLimit / 4));
}

// What a thread leaves half full is the next one's: nothing of it is lost or told twice.
TEST_F(Pools, AThreadGoesOnInWhatAnotherLeft) {
  Cursor first{}, second{};
  std::thread([&] {
    mark(70010);
    begin_afresh();
    mark(70011);
    first = tls.cursor;
  }).join();
  EXPECT_EQ(first.segment->claim, uint64_t{FATHOM_SEGMENT_PARTIAL});
  EXPECT_EQ(first.segment->owner_key, 0U) << "the next owner must not be taken for this one";
  std::thread([&] {
    mark(70012);
    second = tls.cursor;
  }).join();
  EXPECT_EQ(second.segment, first.segment);
  EXPECT_GT(second.at, first.at) << "behind what was there";
  for (const uint32_t id : {70011, 70012}) EXPECT_EQ(marks_of_children(id), 1U) << id;
}

// More than half full, it is the host's: too little is left to be worth another's run.
TEST_F(Pools, AThreadLeavesWhatIsMoreThanHalfFullToTheHost) {
  Cursor first{}, second{};
  std::thread([&] {
    mark(70020);
    begin_afresh();
    const uint8_t* const half = reinterpret_cast<uint8_t*>(tls.cursor.segment) + kSegmentLimit / 2;
    while (tls.cursor.at <= half) mark(70021);
    first = tls.cursor;
  }).join();
  EXPECT_EQ(first.segment->claim, uint64_t{FATHOM_SEGMENT_FULL});
  std::thread([&] {
    mark(70022);
    second = tls.cursor;
  }).join();
  EXPECT_NE(second.segment, first.segment);
}

// Takes segments until a pool had to be made, and keeps the one in it.
void take_new_pool() {
  const size_t files = pool_files();
  std::vector<Cursor> kept;
  while (pool_files() == files && kept.size() < 100000) {
    kept.push_back(tls.cursor);
    tls.cursor = {};
    mark(70030);
  }
  for (Cursor& cursor : kept) release_segment(cursor, FATHOM_SEGMENT_PARTIAL);
}

// The host may close a pool after a thread saw it open, and before that has its segment: nobody
// would ever read what is written there.
TEST_F(Pools, ASegmentOfAPoolThatIsBeingClosedIsGivenBack) {
  if (sysconf(_SC_PAGESIZE) > FATHOM_POOL_HEADER_SIZE) GTEST_SKIP() << "headers share a page";
  take_new_pool();
  const Cursor mine = tls.cursor;
  struct stat file {};
  const std::string path =
      std::string(guest.out) + "/" + std::to_string(run_shared()->newest_pool) + FATHOM_POOL_SUFFIX;
  ASSERT_EQ(stat(path.c_str(), &file), 0);
  auto* const pool =
      static_cast<fathom_pool_header*>(fathom::testing::shared_mapping_of(file.st_ino));
  ASSERT_NE(pool, nullptr);
  release_segment(tls.cursor, FATHOM_SEGMENT_PARTIAL);
  const uint64_t used = mine.segment->progress;
  {
    const fathom::testing::WriteTrap claim(mine.segment, sizeof *mine.segment, [&] {
      __atomic_store_n(&pool->state, FATHOM_POOL_CLOSED, __ATOMIC_SEQ_CST);
    });
    mark(70031);
    EXPECT_TRUE(claim.fired());
  }
  EXPECT_NE(tls.cursor.segment, mine.segment);
  EXPECT_EQ(mine.segment->claim, uint64_t{FATHOM_SEGMENT_PARTIAL});
  EXPECT_EQ(mine.segment->progress, used);
  EXPECT_EQ(marks_of_children(70031), 1U);
  pool->state = FATHOM_POOL_OPEN;
}

// Nobody finds room; then one segment is left half full, in a pool that was looked at in vain.
TEST_F(Pools, AnOfferIsFoundWhereNothingWasBefore) {
  const testing::NoMorePools none;
  const pid_t child = fork();
  if (child == 0) {
    testing::become_child();
    mark(70006);
    std::vector<Cursor> kept;
    while (acquire_segment()) {
      kept.push_back(tls.cursor);
      tls.cursor = {};
    }
    if (kept.empty()) _exit(2);
    release_segment(kept.front(), FATHOM_SEGMENT_PARTIAL);
    testing::outlast_refusals();
    _exit(acquire_segment() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// Then the pool's file is descriptor 0.
TEST_F(Pools, AProgramWithoutStandardInputJoinsOne) {
  mark(70007);
  const pid_t child = fork();
  if (child == 0) {
    testing::become_child();
    close(0);
    _exit(join_pool_file(run_shared()->newest_pool) != nullptr ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(Pools, FilesAreTheirOwnersWhateverTheUmask) {
  const mode_t before = umask(0777);
  take_new_pool();
  umask(before);
  for (const auto& entry : std::filesystem::directory_iterator(guest.out)) {
    const auto mode = static_cast<unsigned>(entry.status().permissions());
    EXPECT_EQ(mode, 0600U) << entry.path();
  }
}

}  // namespace
}  // namespace fathom::guest
