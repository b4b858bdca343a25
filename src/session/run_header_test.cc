// SPDX-License-Identifier: MIT
#include "session/run_header.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/clock.h"
#include "base/files.h"

namespace fathom::session {
namespace {

class RunHeader : public ::testing::Test {
 protected:
  RunHeader() {
    std::string name = ::testing::TempDir() + "header-XXXXXX";
    root_ = mkdtemp(name.data());
  }
  ~RunHeader() override { (void)remove_tree(root_).has_value(); }
  std::string root_;
};

TEST_F(RunHeader, IsWhatTheFileHolds) {
  const std::int64_t before = now_monotonic_ns();
  const auto made =
      make_spool(root_, {.spool_max = 12345, .block_when_full = true, .interval_ns = 5'000'000});
  ASSERT_TRUE(made) << made.error().message;
  const std::string page = read_file(root_ + "/spool/run.header").value();
  ASSERT_EQ(page.size(), static_cast<std::size_t>(FATHOM_RUN_HEADER_SIZE));
  fathom_run_header header{};
  std::memcpy(&header, page.data(), sizeof header);
  EXPECT_EQ(header.magic, FATHOM_RUN_MAGIC);
  EXPECT_EQ(header.version, static_cast<std::uint32_t>(FATHOM_WIRE_VERSION));
  EXPECT_EQ(header.tick_source, choose_tick_source());
  EXPECT_EQ(header.spool_max, 12345U);
  EXPECT_EQ(header.interval_ns, 5'000'000U);
  EXPECT_EQ(header.when_full, static_cast<std::uint32_t>(FATHOM_WHEN_FULL_BLOCK));
  EXPECT_EQ(header.supervised, 1U);
  EXPECT_EQ(header.creator_pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_GE(header.start_monotonic_ns, static_cast<std::uint64_t>(before));
  EXPECT_LE(header.start_monotonic_ns, static_cast<std::uint64_t>(now_monotonic_ns()));
  EXPECT_NE(header.start_tick, 0U);
  EXPECT_STRNE(header.host, "");
  EXPECT_EQ(std::memcmp(header.run_id, made->run_id, sizeof header.run_id), 0);
}

TEST_F(RunHeader, TheDefaultBudgetFitsTheDisk) {
  const auto made = make_spool(root_, {});
  ASSERT_TRUE(made);
  EXPECT_GT(made->spool_max, 0U);
  EXPECT_LE(made->spool_max, std::uint64_t{4} << 30);
  EXPECT_EQ(made->when_full, static_cast<std::uint32_t>(FATHOM_WHEN_FULL_DROP));
}

TEST_F(RunHeader, ASecondSpoolIsRefused) {
  ASSERT_TRUE(make_spool(root_, {}));
  EXPECT_FALSE(make_spool(root_, {}));
}

TEST_F(RunHeader, RunsHaveIdsOfTheirOwn) {
  const auto one = make_spool(root_, {});
  ASSERT_TRUE(remove_tree(root_ + "/spool"));
  const auto two = make_spool(root_, {});
  ASSERT_TRUE(one && two);
  EXPECT_NE(std::memcmp(one->run_id, two->run_id, sizeof one->run_id), 0);
}

}  // namespace
}  // namespace fathom::session
