// SPDX-License-Identifier: MIT
#include "cli/plotstats_door.h"

#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

using Words = std::vector<std::string>;

TEST(PlotstatsDoor, KnowsItsNames) {
  EXPECT_TRUE(is_plotstats("/usr/bin/plotstats"));
  EXPECT_TRUE(is_plotstats("plotstats.py"));
  EXPECT_FALSE(is_plotstats("fathom"));
  EXPECT_FALSE(is_plotstats("plotstats/fathom"));
}

TEST(PlotstatsDoor, DrawsWhereItStandsUnlessToldElse) {
  EXPECT_EQ(plotstats_words({}), (Words{".", "-o", "./plotstats.svg"}));
  EXPECT_EQ(plotstats_words({"out"}), (Words{"out", "-o", "out/plotstats.svg"}));
  EXPECT_EQ(plotstats_words({"-o", "x.png"}), (Words{".", "-o", "x.png"}));
  EXPECT_EQ(plotstats_words({"out", "-o", "x.png"}), (Words{"out", "-o", "x.png"}));
  EXPECT_EQ(plotstats_words({"--help"}), (Words{"--help"}));
}

}  // namespace
}  // namespace fathom::cli
