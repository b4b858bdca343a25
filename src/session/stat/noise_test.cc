// SPDX-License-Identifier: MIT
#include "session/stat/noise.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace fathom::session {
namespace {

class NoiseTest : public ::testing::Test {
 protected:
  NoiseTest() : root_(::testing::TempDir() + "noise-test") { std::filesystem::remove_all(root_); }
  ~NoiseTest() override { std::filesystem::remove_all(root_); }
  void put(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::string root_;
};

TEST_F(NoiseTest, TellsWhatDisturbs) {
  put("/proc/loadavg", "99.50 3.00 2.00 1/100 12345\n");
  put("/proc/stat", "cpu  100 0 50 800 0 0 0 50 7 0\ncpu0 1 2 3\n");
  put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  put("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
  const NoiseMeter meter(root_);
  put("/proc/stat", "cpu  150 0 75 900 0 0 0 75 9 0\ncpu0 1 2 3\n");
  const Noise noise = meter.read();
  EXPECT_EQ(noise.load, 99.5);
  EXPECT_NEAR(*noise.steal, 25.0 / 200, 1e-12);
  EXPECT_EQ(noise.governor, "powersave");
  EXPECT_EQ(noise.boost, true);
  EXPECT_EQ(noise.warnings().size(), 3U);
}

TEST_F(NoiseTest, SaysNothingOfWhatIsNotThere) {
  const Noise noise = NoiseMeter(root_).read();
  EXPECT_FALSE(noise.steal);
  EXPECT_FALSE(noise.boost);
  EXPECT_TRUE(noise.warnings().empty());
}

TEST(Noise, AQuietMachineHasNoWarnings) {
  const Noise noise{
      .governor = "performance", .load = 0.1, .cores = 8, .steal = 0.001, .boost = {}};
  EXPECT_TRUE(noise.warnings().empty());
}

}  // namespace
}  // namespace fathom::session
