// SPDX-License-Identifier: MIT
#include "guest/descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "guest/testing/world.h"

namespace fathom::guest {
namespace {

class Descriptors : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::enter_world();
    stream_ = std::tmpfile();
    ASSERT_NE(stream_, nullptr);
    fd_ = fileno(stream_);
  }
  void TearDown() override {
    if (stream_ == nullptr) return;
    descriptor_closes(fd_);
    std::fclose(stream_);
  }
  // As a hook does it: what a write of this many bytes knows of its offset.
  int64_t write_now(int fd, size_t size) { return moved(fd, size, true); }
  int64_t read_now(int fd, size_t size) { return moved(fd, size, false); }

  int fd_ = -1;
  std::FILE* stream_ = nullptr;

 private:
  static int64_t moved(int fd, size_t size, bool write) {
    static thread_local char bytes[64];
    const uint64_t word = use_begins(fd);
    PositionUse use;
    position_begins(use, fd, word);
    const ssize_t got = write ? ::write(fd, bytes, size) : ::read(fd, bytes, size);
    return position_ends(use, fd, word, got, write);
  }
};

// As a fork leaves them: two descriptors of one open file.
TEST_F(Descriptors, APositionThatSomebodyElseMovedIsElsewhere) {
  descriptor_opened(fd_, 7, 0);
  const auto begins_elsewhere = [this] {
    PositionUse use;
    const uint64_t word = use_begins(fd_);
    position_begins(use, fd_, word);
    position_ends(use, fd_, word, ::write(fd_, "abcd", 4), true);
    return use.elsewhere;
  };
  begins_elsewhere();
  EXPECT_FALSE(begins_elsewhere()) << "it is counted";
  all_shared();
  EXPECT_FALSE(begins_elsewhere()) << "nobody has moved it";
  EXPECT_FALSE(begins_elsewhere());
  ASSERT_EQ(::lseek(fd_, 100, SEEK_SET), 100);
  EXPECT_TRUE(begins_elsewhere());
  EXPECT_FALSE(begins_elsewhere());
  PositionUse seek;
  position_begins(seek, fd_, use_begins(fd_));
  position_set(seek, fd_, ::lseek(fd_, 50, SEEK_SET));
  EXPECT_FALSE(begins_elsewhere()) << "a seek of its own";
  position_lost(fd_);
  EXPECT_TRUE(begins_elsewhere()) << "a stream may have read ahead";
}

TEST_F(Descriptors, AnUnknownOneIsAskedFor) {
  descriptor_closes(fd_);
  const uint64_t word = use_begins(fd_);
  EXPECT_NE(static_cast<uint32_t>(word), 0U);
  EXPECT_NE(word & kWordShared, 0U) << "nobody knows who else has it";
  EXPECT_EQ(use_ends(fd_, word), static_cast<uint32_t>(word));
}

TEST_F(Descriptors, AnotherFileInBetweenTakesTheNameAway) {
  descriptor_opened(fd_, 7, 0);
  const uint64_t word = use_begins(fd_);
  EXPECT_EQ(use_ends(fd_, word), 7U);
  descriptor_closes(fd_);
  EXPECT_EQ(use_ends(fd_, word), 0U);
  descriptor_opened(fd_, 7, 0);
  EXPECT_EQ(use_ends(fd_, word), 0U) << "the same file, opened anew, is another use";
}

TEST_F(Descriptors, BecomingSharedKeepsTheName) {
  descriptor_opened(fd_, 7, 0);
  const uint64_t word = use_begins(fd_);
  all_shared();
  EXPECT_EQ(use_ends(fd_, word), 7U);
}

TEST_F(Descriptors, OutOfTheTableThereIsNoName) {
  for (const int fd : {-1, kMostDescriptors, 1 << 30}) {
    descriptor_opened(fd, 7, 0);
    EXPECT_EQ(use_begins(fd), 0U);
    position_lost(fd);
    descriptor_closes(fd);
  }
}

TEST_F(Descriptors, FarOnesHaveNames) {
  for (const int fd : {kDescriptors - 1, kDescriptors, 1'048'575, kMostDescriptors - 1}) {
    EXPECT_EQ(descriptor_word(fd), 0U) << fd;
    descriptor_opened(fd, 7, 0);
    const uint64_t word = use_begins(fd);
    EXPECT_EQ(static_cast<uint32_t>(word), 7U) << fd;
    EXPECT_EQ((word & kWordShared) != 0, fd >= kDescriptors) << fd;
    all_shared();
    EXPECT_EQ(use_ends(fd, word), 7U) << fd;
    descriptors_close(static_cast<unsigned>(fd), ~0U);
    EXPECT_EQ(use_ends(fd, word), 0U) << fd;
  }
}

TEST_F(Descriptors, ARangeEndsWhereItWasTold) {
  for (const int fd : {kDescriptors - 1, kDescriptors, kDescriptors + 1})
    descriptor_opened(fd, 7, 0);
  descriptors_close(kDescriptors - 1, kDescriptors);
  EXPECT_EQ(descriptor_word(kDescriptors - 1), 0U);
  EXPECT_EQ(descriptor_word(kDescriptors), 0U);
  EXPECT_NE(descriptor_word(kDescriptors + 1), 0U);
  descriptor_closes(kDescriptors + 1);
}

TEST_F(Descriptors, WhoeverGetsItMayMoveIt) {
  descriptor_opened(fd_, 7, 0);
  EXPECT_EQ(write_now(fd_, 10), 0);
  descriptor_shared(fd_);
  EXPECT_EQ(::write(fd_, "12345", 5), 5);  // another process, as far as we know
  EXPECT_EQ(write_now(fd_, 10), 15);
}

TEST_F(Descriptors, WhileDescriptorsChangeNobodyAsks) {
  descriptor_closes(fd_);
  change_begins();
  EXPECT_EQ(use_begins(fd_), 0U);
  change_ends();
  EXPECT_NE(use_begins(fd_), 0U);
}

TEST_F(Descriptors, AFailedReplacementPutsTheWordBack) {
  descriptor_opened(fd_, 7, 0);
  const uint64_t word = descriptor_word(fd_);
  descriptor_closes(fd_);
  descriptor_restore(fd_, word);
  EXPECT_EQ(descriptor_word(fd_), word);
}

TEST_F(Descriptors, PositionsAreCounted) {
  descriptor_opened(fd_, 7, 0);
  EXPECT_EQ(write_now(fd_, 10), 0);
  EXPECT_EQ(write_now(fd_, 20), 10);
  lseek(fd_, 5, SEEK_SET);
  position_lost(fd_);
  EXPECT_EQ(read_now(fd_, 3), 5);
  EXPECT_EQ(read_now(fd_, 60), 8) << "short: 22 bytes are left";
  EXPECT_EQ(read_now(fd_, 60), 30) << "end of file";
}

TEST_F(Descriptors, AppendedBytesAreWhereTheyLanded) {
  ASSERT_EQ(fcntl(fd_, F_SETFL, O_APPEND), 0);
  descriptor_opened(fd_, 7, O_APPEND);
  EXPECT_EQ(write_now(fd_, 10), 0);
  lseek(fd_, 0, SEEK_SET);
  position_lost(fd_);
  EXPECT_EQ(write_now(fd_, 10), 10);
}

TEST_F(Descriptors, DuplicatesShareTheirPosition) {
  descriptor_opened(fd_, 7, 0);
  const int other = dup(fd_);
  descriptor_duplicated(fd_, other);
  EXPECT_EQ(static_cast<uint32_t>(use_begins(other)), 7U);
  EXPECT_EQ(write_now(fd_, 10), 0);
  EXPECT_EQ(write_now(other, 10), 10);
  EXPECT_EQ(write_now(fd_, 10), 20);
  descriptor_closes(other);
  close(other);
}

// A hook that longjmp left: the position is asked for from then on.
TEST_F(Descriptors, ACallThatNeverEndsCostsNoOffsets) {
  descriptor_opened(fd_, 7, 0);
  EXPECT_EQ(write_now(fd_, 10), 0);
  PositionUse left;
  position_begins(left, fd_, use_begins(fd_));
  for (int64_t at = 10; at < 100; at += 10) EXPECT_EQ(write_now(fd_, 10), at);
}

TEST_F(Descriptors, PipesHaveNoPosition) {
  int both[2];
  ASSERT_EQ(pipe(both), 0);
  EXPECT_EQ(write_now(both[1], 10), kUnknown);
  EXPECT_EQ(read_now(both[0], 10), kUnknown);
  for (const int fd : both) {
    descriptor_closes(fd);
    close(fd);
  }
}

// Threads at one position: what is told is true. The bytes tell where they lay.
TEST_F(Descriptors, ThreadsAtOnePositionAreNotToldWrongOffsets) {
  constexpr uint64_t kWords = 20000;
  std::vector<uint64_t> words(kWords);
  for (uint64_t i = 0; i < kWords; i++) words[i] = 8 * i;
  ASSERT_EQ(::write(fd_, words.data(), 8 * kWords), static_cast<ssize_t>(8 * kWords));
  lseek(fd_, 0, SEEK_SET);
  descriptor_opened(fd_, 7, 0);
  std::atomic<int> wrong = 0;
  const auto reader = [&] {
    for (;;) {
      uint64_t truth = 0;
      const uint64_t word = use_begins(fd_);
      PositionUse use;
      position_begins(use, fd_, word);
      const ssize_t got = ::read(fd_, &truth, sizeof truth);
      const int64_t offset = position_ends(use, fd_, word, got, false);
      if (got != sizeof truth) return;
      if (offset != kUnknown && offset != static_cast<int64_t>(truth)) wrong++;
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; i++) threads.emplace_back(reader);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace fathom::guest
