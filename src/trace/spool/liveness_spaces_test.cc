// SPDX-License-Identifier: MIT
// Processes of other pid namespaces, in a /proc that is made here. A namespace is a file, and
// processes of one namespace have it as a hard link: the same inode.
#include "trace/spool/liveness.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "base/clock.h"
#include "base/files.h"
#include "base/host.h"
#include "trace/testing/recordings.h"

namespace fathom::trace {
namespace {

using testing::TempDir;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kKey = 77;

class LivenessSpacesTest : public ::testing::Test {
 protected:
  LivenessSpacesTest() : own_(space("own")) {
    EXPECT_TRUE(make_dirs(path("proc")));
    process("self", own_, "1");
    process("1", own_, "1");
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return join_path(directory_.path(), name);
  }
  [[nodiscard]] std::string proc() const { return path("proc"); }

  // The inode of a namespace, made when it is first named.
  std::uint64_t space(const std::string& name) const {
    if (!path_exists(path(name))) {
      EXPECT_TRUE(write_file_atomic(path(name), ""));
    }
    struct stat facts {};
    EXPECT_EQ(::stat(path(name).c_str(), &facts), 0);
    return facts.st_ino;
  }
  // `age`: seconds since its start.
  void process(const std::string& pid, std::uint64_t in, const std::string& numbers,
               std::int64_t age = 1000) const {
    const std::string place = join_path(proc(), pid);
    EXPECT_TRUE(make_dirs(place) && make_dirs(place + "/ns"));
    EXPECT_TRUE(write_file_atomic(place + "/status", "Name:\tx\nNSpid:\t" + numbers + "\n"));
    const std::int64_t ticks = (boottime_s() - age) * sysconf(_SC_CLK_TCK);
    std::string stat = pid + " (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 ";
    EXPECT_TRUE(write_file_atomic(place + "/stat", stat + std::to_string(ticks) + " 0 0\n"));
    for (const char* name : {"own", "beside", "beneath"}) {
      if (path_exists(path(name)) && space(name) == in) {
        EXPECT_EQ(::link(path(name).c_str(), (place + "/ns/pid").c_str()), 0);
      }
    }
  }
  static std::int64_t boottime_s() {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec;
  }
  // A run that began 100 seconds ago in our namespace, with a clock of nanoseconds.
  [[nodiscard]] Liveness liveness(bool supervised = false) const {
    fathom_run_header header{};
    header.pid_namespace = own_;
    header.supervised = supervised ? 1 : 0;
    header.tick_source = FATHOM_TICK_MONOTONIC_NS;
    header.start_monotonic_ns = static_cast<std::uint64_t>(now_monotonic_ns() - 100 * kSecond);
    header.start_tick = header.start_monotonic_ns;
    std::strncpy(header.boot_id, this_host().boot_id.c_str(), sizeof header.boot_id - 1);
    return {header, Clock::of(header), proc()};
  }
  // The moment so many seconds ago.
  static std::uint64_t tick(std::int64_t age) {
    return static_cast<std::uint64_t>(now_monotonic_ns() - age * kSecond);
  }
  TempDir directory_;
  std::uint64_t own_;
};

TEST_F(LivenessSpacesTest, OfANamespaceBesideNobodyKnows) {
  const Pid pid{7, fathom_space(space("beside"))};
  Liveness unsupervised = liveness();
  EXPECT_EQ(unsupervised.life(pid, kKey, tick(50)), Life::kUnseen);
  EXPECT_EQ(unsupervised.life_since(pid, kKey, now_realtime_ns() - 50 * kSecond), Life::kUnseen);
  EXPECT_TRUE(unsupervised.may_hide());
  EXPECT_TRUE(unsupervised.silent());
  unsupervised.heard(now_realtime_ns());
  EXPECT_FALSE(unsupervised.silent());
  unsupervised.set_deserted(true);
  EXPECT_EQ(unsupervised.life(pid, kKey, tick(50)), Life::kGone);
  unsupervised.set_deserted(false);
  EXPECT_EQ(unsupervised.life(pid, kKey, tick(50)), Life::kUnseen) << "for that pass alone";
  unsupervised.all_ended();
  EXPECT_EQ(unsupervised.life(pid, kKey, tick(50)), Life::kGone) << "somebody knows";
}

// Those of a run that is supervised descend from one whom the recorder sees.
TEST_F(LivenessSpacesTest, OfOneTreeAllAreSeen) {
  const Pid pid{7, fathom_space(space("beneath"))};
  const Liveness supervised = liveness(true);
  EXPECT_FALSE(supervised.may_hide());
  EXPECT_EQ(supervised.life(pid, kKey, tick(50)), Life::kGone);
}

TEST_F(LivenessSpacesTest, WhereOneWasSeenAllAreSeen) {
  const Pid pid{7, fathom_space(space("beneath"))};
  process("300", space("beneath"), "300 1");
  const Liveness unsupervised = liveness();
  EXPECT_EQ(unsupervised.life(pid, kKey, tick(50)), Life::kGone);
  ASSERT_TRUE(remove_tree(proc() + "/300"));
  EXPECT_EQ(unsupervised.life({8, pid.space}, kKey + 1, tick(50)), Life::kGone);
}

// Its number is ours, whether or not we may ask for its namespace.
TEST_F(LivenessSpacesTest, AnInitThatNobodyMayTraceIsNobodyElse) {
  const std::uint64_t beneath = space("beneath");
  process("300", beneath, "300 5");
  ASSERT_EQ(::remove((proc() + "/1/ns/pid").c_str()), 0);
  EXPECT_EQ(liveness().life({1, fathom_space(beneath)}, kKey, tick(50)), Life::kGone);
}

// 24 bits are the same, and so are the pids in there: whoever began before the record has written
// it. Directories come in any order.
TEST_F(LivenessSpacesTest, StartTimesTellCollidingNamespacesApart) {
  const std::uint64_t both = space("beneath");
  const Pid pid{7, fathom_space(both)};
  process("300", both, "300 7", 10);
  EXPECT_EQ(liveness().life(pid, kKey, tick(50)), Life::kGone) << "it began later";
  process("200", both, "200 7", 90);
  EXPECT_EQ(liveness().life(pid, kKey, tick(50)), Life::kLives);
  EXPECT_EQ(liveness().life_since(pid, kKey, now_realtime_ns() - 50 * kSecond), Life::kLives);
  process("400", both, "400 7", 20);
  EXPECT_EQ(liveness().life(pid, kKey, tick(50)), Life::kLives);
  ASSERT_TRUE(remove_tree(proc() + "/200"));
  EXPECT_EQ(liveness().life(pid, kKey, tick(50)), Life::kGone);
}

}  // namespace
}  // namespace fathom::trace
