// SPDX-License-Identifier: MIT
#include "cli/filter_options.h"

#include <gtest/gtest.h>

#include "analysis/row_filter.h"

namespace fathom::cli {
namespace {

using Words = std::vector<std::string>;

constexpr CommandDef kSample = {.name = "sample",
                                .summary = "Does a thing",
                                .usage = "[OPTION…]",
                                .example = "fathom sample",
                                .run = nullptr};

Result<analysis::RowFilter> filter(const Words& words) {
  Parser parser(kSample, words);
  FilterOptions options;
  declare_filters(parser, options);
  FATHOM_TRY(parser.parse());
  return filter_of(parser, options);
}

TEST(FilterOptions, TimesAreOnesOfTheRecording) {
  const Result<analysis::RowFilter> part = filter({"--from", "0.2", "--to", "0.4"});
  ASSERT_TRUE(part) << part.error().message;
  EXPECT_EQ(part->from_ns, 200'000'000);
  EXPECT_EQ(part->to_ns, 400'000'000);
  EXPECT_TRUE(filter({"--from", "0", "--to", "0"}));
  for (const Words& wrong :
       {Words{"--from", "-1"}, Words{"--to", "-0.5"}, Words{"--from", ""}, Words{"--to="},
        Words{"--from", "nan"}, Words{"--from", "x"}, Words{"--from", "0.4", "--to", "0.2"}}) {
    const Result<analysis::RowFilter> refused = filter(wrong);
    ASSERT_FALSE(refused) << wrong[0] << " " << wrong.back();
    EXPECT_EQ(refused.error().code, Code::kUsage) << wrong.back();
    EXPECT_EQ(refused.error().message.find('\n'), std::string::npos) << refused.error().message;
  }
}

}  // namespace
}  // namespace fathom::cli
