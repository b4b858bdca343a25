// SPDX-License-Identifier: MIT
#include "cli/suggest.h"

#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

TEST(Suggest, FindsTheNearestWordOrNone) {
  constexpr std::string_view kWords[] = {"run", "report", "sql", "info", "doctor", "collect"};
  struct Case {
    std::string_view typed;
    std::string_view want;
  };
  const Case cases[] = {{"reprot", "report"},
                        {"rnu", "run"},
                        {"docter", "doctor"},
                        {"colect", "collect"},
                        {"inf", "info"},
                        {"report", "report"},
                        {"sound", ""},
                        {"", ""},
                        {"x", ""},
                        {"a-rather-long-word", ""}};
  for (const Case& c : cases) EXPECT_EQ(nearest(c.typed, kWords), c.want) << c.typed;
}

}  // namespace
}  // namespace fathom::cli
