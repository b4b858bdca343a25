// SPDX-License-Identifier: MIT
// Completions of a small command of the test's own; tests/e2e/test_manuals.py asks the shells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/manuals/manuals.h"

namespace fathom::cli {
namespace {

using testing::HasSubstr;

constexpr CommandDef kSample = {.name = "sample",
                                .summary = "Do the program's work",
                                .usage = "[OPTION…] TRACE",
                                .example = "",
                                .run = nullptr};

std::vector<Manual> sample() {
  Signature takes;
  takes.options = {{"-q,--quiet", "", "hush, it's late"},
                   {"--rows", "N", "how many"},
                   {"-o,--output", "FILE", "where to"},
                   {"--format", "FORMAT", "how it looks"},
                   {"--layers", "L,…", "which"}};
  return {{&kSample, takes}};
}

TEST(Completions, OfFishKnowWhichOptionsTakeAValue) {
  const std::string text = fish_completion(sample());
  const std::string begin = "complete -c fathom -n '__fish_seen_subcommand_from sample'";
  EXPECT_THAT(text, HasSubstr(R"(-a sample -d 'Do the program\'s work')"));
  EXPECT_THAT(text, HasSubstr(begin + R"( -s q -l quiet -d 'hush, it\'s late')" + "\n"));
  EXPECT_THAT(text, HasSubstr(begin + " -l rows -x -d 'how many'\n"));
  EXPECT_THAT(text, HasSubstr(begin + " -s o -l output -r -F -d 'where to'\n"));
  EXPECT_THAT(text, HasSubstr(begin + " -l format -x -a 'table json csv md' -d 'how it looks'\n"));
  EXPECT_THAT(text, HasSubstr(begin + " -l layers -x -a '(__fish_append , "));
}

}  // namespace
}  // namespace fathom::cli
