// SPDX-License-Identifier: MIT
// Guests claim segments, fill them and hand them on, while a drainer takes what it may, closes the
// pools and removes them: the code of both halves, as fast as it can. Whoever made the pools is
// dead, so the drainer closes one whenever it finds all of it free, and somebody may claim there at
// that moment. Every record is in a log in the end, once.
//
// TSan knows no memory but that of its own process, by its addresses. Guests are threads for its
// sake in one test, and the drainer looks at pools where they have mapped them.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <new>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/testing/write_trap.h"
#include "guest/pool_file.h"
#include "guest/records.h"
#include "guest/testing/world.h"
#include "trace/spool/drainer.h"
#include "trace/testing/spool_builder.h"

namespace {

// Whether a file that a guest of this process has mapped is not mapped again for the drainer.
std::atomic<bool> one_view = false;

void* guests_view(int flags, int fd) {
  struct stat facts {};
  if (!one_view || (flags & MAP_SHARED) == 0 || ::fstat(fd, &facts) != 0) return nullptr;
  return fathom::testing::shared_mapping_of(facts.st_ino);
}

}  // namespace

// The linker leads calls of mmap() and munmap() here; guests map by system calls.
extern "C" {
void* __real_mmap(void*, std::size_t, int, int, int, off_t);
int __real_munmap(void*, std::size_t);
void* __wrap_mmap(void* at, std::size_t bytes, int protection, int flags, int fd, off_t offset) {
  if (void* const view = guests_view(flags, fd)) return view;
  return __real_mmap(at, bytes, protection, flags, fd, offset);
}
int __wrap_munmap(void* at, std::size_t bytes) { return one_view ? 0 : __real_munmap(at, bytes); }
}

namespace fathom {
namespace {

using guest::testing::be_thread_of_this_process;
using guest::testing::enter_spool;
using trace::testing::SpoolBuilder;
using trace::testing::TempDir;

constexpr std::uint32_t kGuests = 3;
constexpr unsigned kMarkBits = 28;  // of an id; what is above them says who wrote it
constexpr std::uint64_t kBudget = 1 << 20;

bool in_full() { return std::getenv("FATHOM_FULL") != nullptr; }
std::uint32_t rounds() { return in_full() ? 10'000 : 1'000; }

// Mostly a few records, now and then more than a segment takes.
std::uint32_t marks_of(std::uint32_t round) { return round % 64 == 63 ? 7'000 : 1 + round % 200; }
std::uint32_t all_marks() {
  std::uint32_t sum = 0;
  for (std::uint32_t round = 0; round < rounds(); round++) sum += marks_of(round);
  return sum;
}

// What guests and the drainer know of each other, whatever processes they are.
struct Meeting {
  std::atomic<std::uint32_t> arrived = 0;
  std::atomic<std::uint32_t> pass_us = 0;  // how long the drainer takes for a pass

  // Nobody has a segment when all guests have come. How long each stays away then is chance, of
  // the length of two passes: one claims while the drainer looks, closes, looks again or removes.
  void join(std::minstd_rand& random) {
    const std::uint32_t place = arrived.fetch_add(1);
    const std::uint32_t all = (place / kGuests + 1) * kGuests;
    while (arrived < all) guest::nap(50);
    guest::nap(static_cast<long>(random() % (2 * pass_us + 1)));
  }
};

Meeting* new_meeting() {
  void* const page =
      ::mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return new (page) Meeting;
}

// What a process or a thread does that comes and goes, again and again.
void be_guest(std::uint32_t who, Meeting& meeting) {
  std::minstd_rand random(who);
  std::uint32_t mark = 0;
  for (std::uint32_t round = 0; round < rounds(); round++) {
    for (std::uint32_t i = marks_of(round); i > 0; i--)
      guest::write_id(FATHOM_KIND_THREAD_NAME, who << kMarkBits | mark++);
    guest::leave_segments();
    if (round % 4 == 3) meeting.join(random);
  }
}

class PoolsStress : public ::testing::Test {
 protected:
  PoolsStress() {
    fathom_run_header header = builder_.header();
    header.spool_max = kBudget;
    header.when_full = FATHOM_WHEN_FULL_BLOCK;
    builder_.write_page(header);
  }

  // Until nobody writes any more and all pools are gone.
  template <class Ended>
  void drain_until(const Ended& ended) {
    trace::Drainer drainer =
        trace::Drainer::open(spool_, trace::Clock::of(spool_.header()), 0).value();
    for (int idle = 0; idle < 1000;) {
      const bool was_last = ended();
      const std::int64_t begin = now_monotonic_ns();
      const Result<trace::DrainResult> pass = drainer.drain();
      meeting_->pass_us = static_cast<std::uint32_t>((now_monotonic_ns() - begin) / 1000);
      ASSERT_TRUE(pass.has_value()) << pass.error().message;
      ASSERT_FALSE(pass->trouble.has_value()) << pass->trouble->message;
      dropped_ = pass->lost;
      if (was_last && pass->pools == 0) return;
      idle += was_last ? 1 : 0;
    }
    FAIL() << "nobody writes, and there are still pools";
  }

  void read_chunk(std::span<const std::uint8_t> bytes) {
    trace::RecordWalker walker(bytes);
    trace::RecordHead head;
    using Step = trace::RecordWalker::Step;
    Step step = walker.next(head);
    for (; step == Step::kRecord; step = walker.next(head)) {
      if (head.kind == FATHOM_KIND_SWITCH) continue;
      std::uint64_t id = 0;
      ASSERT_EQ(head.kind, static_cast<unsigned>(FATHOM_KIND_THREAD_NAME));
      ASSERT_TRUE(walker.fields().number(id));
      const std::uint64_t who = id >> kMarkBits;
      ASSERT_TRUE(who >= 1 && who <= kGuests) << id;
      const std::uint64_t mark = id & ((1U << kMarkBits) - 1);
      ASSERT_LT(mark, found_[who - 1].size());
      found_[who - 1][mark]++;
    }
    ASSERT_EQ(step, Step::kEnd);
  }

  void expect_every_mark_once_or_counted() {
    found_.assign(kGuests, std::vector<std::uint8_t>(all_marks(), 0));
    std::set<trace::ChunkName> names;
    for (const std::uint64_t n : spool_.logs()) {
      const std::string log = read_file(spool_.log_path(n)).value();
      const trace::LogScan scan = trace::scan_log(
          {reinterpret_cast<const std::uint8_t*>(log.data()), log.size()},
          [&](const trace::LogEntry& entry, std::uint64_t) {
            if (entry.kind != trace::EntryKind::kChunk) return;
            EXPECT_TRUE(names.insert(entry.name).second) << "a fill of a segment, twice";
            read_chunk(entry.bytes);
          });
      EXPECT_EQ(scan.damaged_bytes, 0U);
    }
    std::uint64_t lost = 0;
    for (std::uint32_t who = 0; who < kGuests; who++) {
      const auto& marks = found_[who];
      lost += static_cast<std::uint64_t>(std::ranges::count(marks, 0));
      EXPECT_EQ(std::ranges::count_if(marks, [](std::uint8_t times) { return times > 1; }), 0)
          << "twice, of guest " << who + 1;
    }
    // One who waits half a second for another who makes a pool gives up: on a very busy machine
    // that happens, and is counted.
    EXPECT_EQ(lost, dropped_) << "lost, and counted";
    // Else nothing was tried here.
    EXPECT_GT(spool_.shared().pools_made, rounds() / 100) << "pools that were made and closed";
    RecordProperty("pools", static_cast<int>(spool_.shared().pools_made));
  }

  TempDir directory_;
  SpoolBuilder builder_{directory_.path()};
  trace::Spool spool_ = trace::Spool::open(builder_.directory()).value();
  Meeting* const meeting_ = new_meeting();
  std::uint64_t dropped_ = 0;
  std::vector<std::vector<std::uint8_t>> found_;  // how often, by guest and mark
};

// The first of the two: it must fork before this process is a guest itself.
TEST_F(PoolsStress, OfProcesses) {
  std::vector<pid_t> guests;
  for (std::uint32_t who = 1; who <= kGuests; who++) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // it would wait for room for ever
      enter_spool(builder_.directory(), SpoolBuilder::kDeadPid);
      be_guest(who, *meeting_);
      _exit(HasFailure() ? 1 : 0);
    }
    guests.push_back(child);
  }
  drain_until([&] {
    std::erase_if(guests, [](pid_t child) {
      int status = 0;
      if (waitpid(child, &status, WNOHANG) != child) return false;
      EXPECT_EQ(status, 0);
      return true;
    });
    return guests.empty();
  });
  expect_every_mark_once_or_counted();
}

TEST_F(PoolsStress, OfThreads) {
  enter_spool(builder_.directory(), SpoolBuilder::kDeadPid);
  guest::leave_segments();
  one_view = true;
  std::atomic<std::uint32_t> left = kGuests;
  std::vector<std::thread> guests;
  for (std::uint32_t who = 1; who <= kGuests; who++) {
    guests.emplace_back([this, who, &left] {
      be_thread_of_this_process();
      be_guest(who, *meeting_);
      left--;
    });
  }
  drain_until([&] { return left == 0; });
  for (std::thread& thread : guests) thread.join();
  one_view = false;
  expect_every_mark_once_or_counted();
}

}  // namespace
}  // namespace fathom
