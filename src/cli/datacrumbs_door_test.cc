// SPDX-License-Identifier: MIT
#include "cli/datacrumbs_door.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files.h"

namespace fathom::cli {
namespace {

using Words = std::vector<std::string>;
using Action = DatacrumbsDoor::Action;

class DatacrumbsDoorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/fathom-door-XXXXXX";
    directory_ = mkdtemp(name);
    ASSERT_TRUE(write_file_atomic(directory_ + "/plain.yaml", "mode: profile\n", 0600));
    ASSERT_TRUE(write_file_atomic(directory_ + "/filed.yaml", "file: trace.pfw\n", 0600));
  }
  void TearDown() override { ASSERT_TRUE(remove_tree(directory_)); }

  std::string directory_;
};

TEST_F(DatacrumbsDoorTest, IsKnownByItsName) {
  EXPECT_TRUE(is_datacrumbs("datacrumbs"));
  EXPECT_TRUE(is_datacrumbs("/usr/bin/datacrumbs"));
  EXPECT_FALSE(is_datacrumbs("/usr/bin/fathom"));
}

TEST_F(DatacrumbsDoorTest, WritesItsProfileUnlessAFileIsNamed) {
  const std::string plain = directory_ + "/plain.yaml";
  const std::string filed = directory_ + "/filed.yaml";
  struct Case {
    Words given;
    Words wanted;
  };
  for (const Case& c : {
           Case{{"--layers", "block"}, {"--layers", "block", "--pfw", "profile.pfw"}},
           Case{{"run", plain}, {"--config", plain, "--pfw", "profile.pfw"}},
           Case{{"run", filed}, {"--config", filed}},
           Case{{"module=" + filed}, {"--config", filed}},
           Case{{"run", "filed", "--config_path", directory_}, {"--config", filed}},
           Case{{"--layers=all", "--pfw", "x.pfw", "--all"},
                {"--layers=all", "--pfw", "x.pfw", "--all"}},
           Case{{"run", plain, "--trace_log_dir", "/logs", "--user", "me", "--run_id", "7",
                 "--disable-mpi", "--inclusion_path", "/data"},
                {"--filter", "path=/data", "--config", plain, "--pfw", "/logs/profile.pfw"}},
           Case{{"--interval", "1s", "--all", plain},
                {"--interval", "1s", "--all", "--config", plain, "--pfw", "profile.pfw"}},
       }) {
    const Result<DatacrumbsDoor> door = read_datacrumbs(c.given);
    ASSERT_TRUE(door) << door.error().message;
    EXPECT_EQ(door->words, c.wanted);
    EXPECT_EQ(door->action, Action::kRun);
  }
}

TEST_F(DatacrumbsDoorTest, HasProbesOfItsOwnWithoutAConfiguration) {
  const Result<DatacrumbsDoor> door = read_datacrumbs({"--pfw", "x.pfw"});
  ASSERT_TRUE(door);
  ASSERT_EQ(door->words.size(), 8);
  EXPECT_EQ(door->words[2], "--layers");
  EXPECT_TRUE(door->words[3].starts_with("syscall,vfs?,"));
  EXPECT_EQ(door->words[4], "--functions");
  EXPECT_TRUE(door->words[5].starts_with("libc.so.6:^(fopen|"));
  EXPECT_EQ(door->words[7], "c=" + door->words[5]);
}

TEST_F(DatacrumbsDoorTest, StartsAndStops) {
  EXPECT_EQ(read_datacrumbs({"start"})->action, Action::kStart);
  EXPECT_EQ(read_datacrumbs({"stop"})->action, Action::kStop);
  EXPECT_FALSE(read_datacrumbs({"run", "no-such-configuration"}));
  EXPECT_FALSE(read_datacrumbs({"--run_id"}));
  EXPECT_EQ(read_datacrumbs({"probes.json.gz", "7"}).error().code, Code::kUnsupported);
}

}  // namespace
}  // namespace fathom::cli
