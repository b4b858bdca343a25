// SPDX-License-Identifier: MIT
#include "cli/moving_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::string_view kPage = R"(# Moving

| words | meaning |
|---|---|
| the same | `WORD` |

## Tracer

### Variables

| Tracer | Fathom |
|---|---|
| `T_ENABLE`, `T_LEVEL` | the same; see [run.md](run.md#enable) |
| `LD_PRELOAD=libtracer.so CMD` | `fathom run -- CMD` |
| `T_ENABLE=1 CMD` | the same |

### Functions

| Tracer | Fathom |
|---|---|
| `tracer.begin()`, `@tracer.log`, `--all\|-a` | not yet |
| the macros `*_USES` | not yet |
| its log of days | not needed |

## Other tools

| tool | you typed | now |
|---|---|---|
| Big Tool | `big -x` | `fathom info NAME` |
| Big Sister | `sister` | not yet |
)";

std::vector<std::string> olds(const std::vector<MovedName>& rows) {
  std::vector<std::string> names;
  for (const MovedName& row : rows) names.push_back(row.old);
  return names;
}

TEST(MovingPage, RowsAreThoseOfTools) {
  const std::vector<MovedName> rows = read_moving_page(kPage);
  ASSERT_THAT(rows, SizeIs(8));
  EXPECT_EQ(rows[0].tool, "Tracer");
  EXPECT_EQ(rows[0].section, "Variables");
  EXPECT_EQ(rows[0].old, "T_ENABLE, T_LEVEL");
  EXPECT_EQ(rows[0].now, "the same; see run.md");
  EXPECT_THAT(rows[0].names, ElementsAre("T_ENABLE", "T_LEVEL"));
  EXPECT_EQ(rows[6].tool, "Big Tool");
  EXPECT_EQ(rows[6].section, "");
  EXPECT_EQ(rows[6].now, "fathom info NAME");
  EXPECT_THAT(tools_of(rows), ElementsAre("Tracer", "Big Tool", "Big Sister"));
}

TEST(MovingPage, AToolIsFoundByItsNameOrFirstWord) {
  const std::vector<MovedName> rows = read_moving_page(kPage);
  EXPECT_THAT(rows_of_tool(rows, "TRACER"), SizeIs(6));
  EXPECT_THAT(rows_of_tool(rows, "big"), SizeIs(2));
  EXPECT_THAT(rows_of_tool(rows, "big sister"), SizeIs(1));
  EXPECT_THAT(rows_of_tool(rows, "bi"), IsEmpty());
  EXPECT_EQ(word_for("Tracer", rows), "tracer");
  EXPECT_EQ(word_for("Big Tool", rows), "Big Tool");
}

TEST(MovingPage, ANameIsFoundAsAWord) {
  const std::vector<MovedName> rows = read_moving_page(kPage);
  EXPECT_THAT(olds(rows_of_name(rows, "t_enable")), ElementsAre("T_ENABLE", "T_ENABLE=1 CMD"));
  EXPECT_THAT(olds(rows_of_name(rows, "T_LEVEL=DEBUG")), ElementsAre("T_LEVEL"));
  EXPECT_THAT(olds(rows_of_name(rows, "libtracer.so")), ElementsAre("LD_PRELOAD=libtracer.so CMD"));
  EXPECT_THAT(olds(rows_of_name(rows, "begin")), ElementsAre("tracer.begin()"));
  EXPECT_THAT(olds(rows_of_name(rows, "tracer.log")), ElementsAre("@tracer.log"));
  EXPECT_THAT(olds(rows_of_name(rows, "T_C_USES")), ElementsAre("the macros *_USES"));
  EXPECT_THAT(olds(rows_of_name(rows, "-x")), ElementsAre("big -x"));
}

TEST(MovingPage, ElseRowsThatContainIt) {
  const std::vector<MovedName> rows = read_moving_page(kPage);
  EXPECT_THAT(olds(rows_of_name(rows, "PRELO")), ElementsAre("LD_PRELOAD=libtracer.so CMD"));
  EXPECT_THAT(olds(rows_of_name(rows, "of days")), ElementsAre("its log of days"));
  EXPECT_THAT(rows_of_name(rows, "nothing"), IsEmpty());
  EXPECT_THAT(rows_of_name(rows, "--"), IsEmpty());
}

TEST(MovingPage, LinesThatAreNoTableAreNoRows) {
  EXPECT_THAT(read_moving_page(""), IsEmpty());
  EXPECT_THAT(read_moving_page("## T\n|"), IsEmpty());
  EXPECT_THAT(read_moving_page("## T\n| a | b |\n|---|---|\n|\n| a |\n"), IsEmpty());
  EXPECT_THAT(olds(read_moving_page("## T\n| a | b |\n|---|---|\n| [x](y | ](z) |\n")),
              ElementsAre("[x](y"));
}

TEST(MovingPage, TheProgramHasThePage) {
  ASSERT_THAT(moving_pages(), SizeIs(1));
  const std::vector<MovedName> rows = read_moving_page(moving_pages().front().text);
  EXPECT_THAT(tools_of(rows), ::testing::IsSupersetOf({"DFTracer", "DataCrumbs", "Alnair",
                                                       "profiling-framework", "perf"}));
  EXPECT_THAT(olds(rows_of_name(rows, "DFTRACER_TIME_METRIC")),
              ::testing::Contains("DFTRACER_TIME_METRIC"));
}

}  // namespace
}  // namespace fathom::cli
