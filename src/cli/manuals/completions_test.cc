// SPDX-License-Identifier: MIT
// Completions of a small command of the test's own, and what tables say in the help of real ones;
// tests/e2e/test_manuals.py asks the shells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "cli/manuals/manuals.h"
#include "trace/rows/layers.h"

namespace fathom::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

std::string help_of(std::string_view command, std::string_view option) {
  for (const Manual& manual : manuals()) {
    if (manual.command->name != command) continue;
    for (const Argument& argument : manual.takes.options) {
      if (argument.names == option) return argument.help;
    }
  }
  return "";
}

TEST(Manuals, RunNamesTheLayersThatItRecordsByDefault) {
  const std::string help = help_of("run", "--layers");
  for (const trace::LayerDef& layer : trace::kLayers) {
    const std::string name(layer.name);
    if (layer.by_default) {
      EXPECT_THAT(help, HasSubstr(name));
    } else {
      EXPECT_THAT(help, Not(HasSubstr(name)));
    }
  }
}

}  // namespace
}  // namespace fathom::cli
