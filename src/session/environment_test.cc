// SPDX-License-Identifier: MIT
#include "session/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::session {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

const GuestSettings kSettings{.library = "/l/libfathom.so",
                              .directory = "/d",
                              .layers = {"app", "posix"},
                              .calls = {},
                              .further = {}};

TEST(GuestEnvironment, KeepsWhatIsThere) {
  EXPECT_THAT(guest_environment({"A=1", "ODD", "FATHOM_OUT=/old", "B=x=y"}, kSettings),
              ElementsAre("A=1", "ODD", "B=x=y", "LD_PRELOAD=/l/libfathom.so",
                          "ASAN_OPTIONS=verify_asan_link_order=0", "FATHOM_OUT=/d",
                          "FATHOM_LAYERS=app,posix", "NVTX_INJECTION64_PATH=/l/libfathom.so"));
}

TEST(GuestEnvironment, LeavesTheLibraryOutWhereTheLoaderWouldMind) {
  GuestSettings settings = kSettings;
  settings.preloads = false;
  for (const std::string& variable : guest_environment({"A=1"}, settings))
    EXPECT_FALSE(variable.starts_with("LD_PRELOAD=")) << variable;
  EXPECT_THAT(guest_environment({"LD_PRELOAD=/l/libfathom.so:/o/a.so b.so"}, settings),
              Contains("LD_PRELOAD=/o/a.so:b.so"));
}

TEST(GuestEnvironment, NvtxIsGivenToNobodyElse) {
  const std::string ours = "NVTX_INJECTION64_PATH=/l/libfathom.so";
  const std::string another = "NVTX_INJECTION64_PATH=/opt/tool.so";
  EXPECT_THAT(guest_environment({another}, kSettings), Contains(another));
  EXPECT_THAT(guest_environment({"NVTX_INJECTION64_PATH=/l/libpfinterpose.so"}, kSettings),
              Contains(ours))
      << "a run inside a run";
  GuestSettings settings = kSettings;
  settings.layers = {"posix"};
  EXPECT_THAT(guest_environment({}, settings), Not(Contains(ours)));
}

TEST(GuestEnvironment, OthersPreloadsFollowOurs) {
  struct Case {
    const char* before;
    const char* after;
  };
  const Case cases[] = {
      {"LD_PRELOAD=/a.so", "LD_PRELOAD=/l/libfathom.so:/a.so"},
      {"LD_PRELOAD=/a.so /b.so", "LD_PRELOAD=/l/libfathom.so:/a.so:/b.so"},
      {"LD_PRELOAD=/a.so:/l/libfathom.so", "LD_PRELOAD=/l/libfathom.so:/a.so"},
      {"LD_PRELOAD=/l/libfathom_heap.so:/a.so", "LD_PRELOAD=/l/libfathom.so:/a.so"},
      {"LD_PRELOAD=/a.so /l/libpfinterpose.so", "LD_PRELOAD=/l/libfathom.so:/a.so"},
      {"LD_PRELOAD=/l/libpfinterpose_heap.so", "LD_PRELOAD=/l/libfathom.so"},
      {"LD_PRELOAD=", "LD_PRELOAD=/l/libfathom.so"},
      {"LD_PRELOAD= : ", "LD_PRELOAD=/l/libfathom.so"}};
  for (const Case& c : cases) {
    EXPECT_THAT(guest_environment({c.before}, kSettings), Contains(c.after)) << c.before;
    EXPECT_THAT(guest_environment({c.before}, kSettings), Not(Contains(c.before))) << c.before;
  }
}

TEST(GuestEnvironment, OptionsOfAddressSanitizerAreAddedTo) {
  const std::string with = "ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0";
  EXPECT_THAT(guest_environment({"ASAN_OPTIONS=detect_leaks=0"}, kSettings), Contains(with));
  EXPECT_THAT(guest_environment({with}, kSettings), Contains(with)) << "a run inside a run";
}

TEST(GuestEnvironment, TheCallFilterIsHandedOn) {
  GuestSettings settings = kSettings;
  settings.calls = {"read", "-fstat"};
  EXPECT_THAT(guest_environment({}, settings), Contains("FATHOM_CALLS=read,-fstat"));
}

TEST(PlainEnvironment, HasNoSettingsOfOurs) {
  EXPECT_THAT(plain_environment({"FATHOM_OUT=/x", "LD_PRELOAD=/a.so", "FATHOM_LAYERS=app"}),
              ElementsAre("LD_PRELOAD=/a.so"));
}

TEST(TellingEnvironment, LeavesSecretsOut) {
  const auto telling =
      telling_environment({"OMP_NUM_THREADS=4", "AWS_SECRET_ACCESS_KEY=x", "PATH=/bin", "TOKEN=y"});
  EXPECT_EQ(telling,
            (std::map<std::string, std::string>{{"OMP_NUM_THREADS", "4"}, {"PATH", "/bin"}}));
}

}  // namespace
}  // namespace fathom::session
