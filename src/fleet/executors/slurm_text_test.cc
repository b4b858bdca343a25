// SPDX-License-Identifier: MIT
#include "fleet/executors/slurm_text.h"

#include <gtest/gtest.h>

namespace fathom::fleet {
namespace {

TEST(SlurmText, TheNumberOfAJob) {
  EXPECT_EQ(parse_sbatch("17\n"), "17");
  EXPECT_EQ(parse_sbatch("17;cluster\n"), "17");
  EXPECT_FALSE(parse_sbatch(""));
  EXPECT_FALSE(parse_sbatch("Submitted batch job 17"));
  EXPECT_FALSE(parse_sbatch("17_3"));
}

TEST(SlurmText, TasksOfAnArray) {
  const auto tasks = parse_squeue(
      "7_6|PENDING||Resources\n7_0|RUNNING|n1|None\n 8|COMPLETED|n2|None "
      "\nnonsense\nx|y|z|w\n7_|A|B|C\n");
  ASSERT_EQ(tasks.size(), 3U);
  EXPECT_EQ(tasks.at("7_6").state, "PENDING");
  EXPECT_EQ(tasks.at("7_6").reason, "Resources");
  EXPECT_EQ(tasks.at("7_0").node, "n1");
  EXPECT_EQ(tasks.at("8").state, "COMPLETED");
}

}  // namespace
}  // namespace fathom::fleet
