// SPDX-License-Identifier: MIT
// A pid is not a process: others get it later, and programs become others in place.
#include "trace/spool/liveness.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/clock.h"
#include "base/host.h"
#include "trace/testing/recordings.h"

namespace fathom::trace {
namespace {

using testing::kDead;
using testing::kKey;
using testing::SpoolBuilder;
using testing::TempDir;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kOther = 0x78;

// A process that begins now and waits; it goes with the object.
class Child {
 public:
  Child() : pid_(::fork()) {
    while (pid_ == 0) ::pause();
  }
  ~Child() {
    end();
    reap();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] Pid pid() const { return {static_cast<std::uint32_t>(pid_), 0}; }
  // Ends it; whoever looks finds a zombie until reap().
  void end() const {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    siginfo_t info{};
    (void)::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  void reap() {
    if (pid_ > 0) (void)::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_;
};

class LivenessTest : public ::testing::Test {
 protected:
  // The run began a minute ago.
  [[nodiscard]] Liveness liveness() const { return of(builder_.header()); }
  static Liveness of(const fathom_run_header& header) { return {header, Clock::of(header)}; }
  [[nodiscard]] std::uint64_t ago(double seconds) const {
    return builder_.at(kMinute - static_cast<std::uint64_t>(seconds * 1e9));
  }

  static bool lived_since(const Liveness& liveness, const Pid& pid, std::uint64_t key,
                          std::int64_t realtime_ns) {
    return liveness.life_since(pid, key, realtime_ns) != Life::kGone;
  }

  static constexpr std::uint64_t kMinute = 60 * kSecond;
  TempDir directory_;
  SpoolBuilder builder_{directory_.path(), false, kMinute};
};

TEST_F(LivenessTest, AProcessIsAliveUntilItEnds) {
  Child child;
  Liveness alive = liveness();
  EXPECT_TRUE(alive.alive(child.pid(), kKey, builder_.at(2 * kMinute)));
  child.end();
  EXPECT_TRUE(alive.alive(child.pid(), kKey, 0)) << "one look for each pass";
  alive.begin_pass();
  EXPECT_FALSE(alive.alive(child.pid(), kKey, 0)) << "a zombie writes no more";
  const Pid pid = child.pid();
  child.reap();
  alive.begin_pass();
  EXPECT_FALSE(alive.alive(pid, kKey, 0));
}

TEST_F(LivenessTest, NumbersThatAreNoProcesses) {
  const Liveness alive = liveness();
  EXPECT_TRUE(alive.alive({0, 0}, kKey, 0)) << "it is not told yet who it is";
  EXPECT_FALSE(alive.alive({kDead, 0}, kKey, 0));
  EXPECT_FALSE(alive.alive({UINT32_MAX, 0}, kKey, 0)) << "kill() would mean a group";
}

// The process that has this pid now began after the owner wrote: it is another one.
TEST_F(LivenessTest, APidThatAnotherProcessHasNow) {
  const Child now;
  Liveness alive = liveness();
  EXPECT_FALSE(alive.alive(now.pid(), kKey, ago(30)));
  EXPECT_FALSE(alive.alive(now.pid(), kKey, ago(1)));
  // On a machine that was busy meanwhile it began much later than the test.
  const auto run =
      now_monotonic_ns() - static_cast<std::int64_t>(builder_.header().start_monotonic_ns);
  if (run < static_cast<std::int64_t>(kMinute + kSecond / 50)) {
    EXPECT_TRUE(alive.alive(now.pid(), kKey, ago(0.05))) << "/proc rounds, and clocks differ";
  }
  EXPECT_TRUE(alive.alive(now.pid(), kKey, 0)) << "where nothing is known, it may be the same";
  alive.saw(now.pid(), kKey, ago(30));
  EXPECT_FALSE(alive.alive(now.pid(), kKey, 0)) << "it was seen before this one began";
  alive.saw(now.pid(), kKey, builder_.at(2 * kMinute));
  EXPECT_TRUE(alive.alive(now.pid(), kKey, 0)) << "it was seen since";
}

// exec: another image has the pid, and the records of the one before are complete.
TEST_F(LivenessTest, AnImageThatAnotherHasReplaced) {
  const Child child;
  Liveness alive = liveness();
  const std::uint64_t first = builder_.at(2 * kMinute);
  const std::uint64_t second = first + kSecond;
  alive.saw(child.pid(), kKey, first);
  EXPECT_FALSE(alive.ambiguous(child.pid()));
  EXPECT_TRUE(alive.alive(child.pid(), kKey, first));
  alive.saw(child.pid(), kOther, second);
  EXPECT_TRUE(alive.ambiguous(child.pid()));
  EXPECT_FALSE(alive.alive(child.pid(), kKey, first));
  EXPECT_TRUE(alive.alive(child.pid(), kOther, second));
  EXPECT_TRUE(alive.alive(child.pid(), kKey, second)) << "equal ticks decide nothing";
  EXPECT_FALSE(alive.ambiguous({kDead, 0}));
}

// The creator of a pool wrote perhaps nothing: the date of its file is all that is known.
TEST_F(LivenessTest, ByADateAtWhichItLived) {
  const Child child;
  Liveness alive = liveness();
  const std::int64_t now = now_realtime_ns();
  const std::int64_t hour = 3600 * static_cast<std::int64_t>(kSecond);
  EXPECT_TRUE(lived_since(alive, child.pid(), kKey, now));
  EXPECT_FALSE(lived_since(alive, child.pid(), kKey, now - hour)) << "another had that pid";
  EXPECT_TRUE(lived_since(alive, child.pid(), kKey, 0)) << "no date";
  EXPECT_TRUE(lived_since(alive, child.pid(), kKey, now - 10 * std::int64_t{kSecond}))
      << "dates are set and corrected";
  EXPECT_FALSE(lived_since(alive, {kDead, 0}, kKey, now));
  alive.saw(child.pid(), kKey, builder_.at(2 * kMinute));
  EXPECT_TRUE(lived_since(alive, child.pid(), kKey, now - hour)) << "its records say more";
}

TEST_F(LivenessTest, OfAnEarlierBootNobodyLives) {
  fathom_run_header header = builder_.header();
  header.boot_id[0] = header.boot_id[0] == 'x' ? 'y' : 'x';
  std::snprintf(header.host, sizeof header.host, "%s", this_host().hostname.c_str());
  const Liveness alive = of(header);
  EXPECT_FALSE(alive.alive({static_cast<std::uint32_t>(::getpid()), 0}, kKey, 0));
}

TEST_F(LivenessTest, ElsewhereTheyLiveUntilNothingIsHeard) {
  fathom_run_header header = builder_.header();
  header.boot_id[0] = header.boot_id[0] == 'x' ? 'y' : 'x';
  Liveness alive = of(header);
  EXPECT_TRUE(alive.may_hide());
  EXPECT_TRUE(alive.silent());
  EXPECT_TRUE(alive.alive({kDead, 0}, kKey, 0)) << "its pid counts elsewhere";
  alive.heard(now_realtime_ns());
  EXPECT_FALSE(alive.silent());
  alive.heard(1);
  EXPECT_FALSE(alive.silent()) << "the latest counts";
  alive.all_ended();
  EXPECT_FALSE(alive.alive({kDead, 0}, kKey, 0));
}

TEST(IsRecentTest, WithinALeaseOnBothSides) {
  const std::int64_t now = now_realtime_ns();
  EXPECT_TRUE(is_recent(now));
  EXPECT_FALSE(is_recent(0));
  EXPECT_FALSE(is_recent(now - kLeaseNs));
  EXPECT_TRUE(is_recent(now - kLeaseNs / 2));
  EXPECT_TRUE(is_recent(now + kLeaseNs / 2)) << "clocks of machines differ";
  EXPECT_FALSE(is_recent(now + 2 * kLeaseNs));
}

}  // namespace
}  // namespace fathom::trace
