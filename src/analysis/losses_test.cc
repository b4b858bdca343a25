// SPDX-License-Identifier: MIT
#include "analysis/losses.h"

#include <gtest/gtest.h>

#include <vector>

namespace fathom::analysis {
namespace {

TEST(LossRemark, SaysWhatIsMissing) {
  std::vector<trace::Part> parts(1);
  EXPECT_EQ(loss_remark(parts, "functions"), "");
  parts[0].manifest.add_loss({"cpu", "stacks of waits that were not taken", 3});
  EXPECT_EQ(loss_remark(parts, "functions"),
            "Lost: parts of 3 events, so names or places are missing; 'fathom report TRACE losses' "
            "says why.");
  parts[0].manifest.add_loss({"posix", "spool full", 2});
  EXPECT_EQ(loss_remark(parts, "functions"),
            "Lost: 2 events, so sums may be too small; 'fathom report TRACE losses' says why.");
  EXPECT_EQ(loss_remark(parts, "losses"), "") << "the view itself tells";
}

}  // namespace
}  // namespace fathom::analysis
