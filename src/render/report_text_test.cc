// SPDX-License-Identifier: MIT
#include "render/report_text.h"

#include <gtest/gtest.h>

namespace fathom::render {
namespace {

analysis::Report sample() {
  Table sizes{
      .title = "Sizes",
      .columns = {{"from", Measure::kBytes}, {"calls", Measure::kCount}},
      .rows = {{std::int64_t{64}, std::int64_t{1000}}, {std::int64_t{4096}, std::int64_t{500}}},
      .note = {}};
  Table memory{.title = "Memory", .columns = {{"line"}, {"over_time"}}, .rows = {}, .note = {}};
  memory.rows.push_back({std::string("rss"), List{Value(1.0), Value(), Value(2.0)}});
  return {.words = {"It ran."},
          .sections = {{sizes, analysis::Shape::kBars}, {memory, analysis::Shape::kSeries}}};
}

TEST(ReportTextTest, PeopleSeeBarsAndLines) {
  EXPECT_EQ(report_text(sample(), Format::kTable, {}),
            "It ran.\n\n"
            "Sizes\n"
            "    from  calls\n"
            "────────  ─────  ──────────────────────────────\n"
            "    64 B  1,000  ██████████████████████████████\n"
            "4.00 KiB    500  ███████████████\n"
            "\n"
            "Memory\n"
            "line  over_time\n"
            "────  ─────────\n"
            "rss   ▅ █\n");
}

TEST(ReportTextTest, ProgramsSeeNumbers) {
  EXPECT_EQ(report_text(sample(), Format::kJson, {}),
            "{\n\"words\":[\n{\"text\":\"It ran.\"}\n],\n\"insights\":[],\n"
            "\"sizes\":[\n{\"from\":64,\"calls\":1000},\n{\"from\":4096,\"calls\":500}\n],\n"
            "\"memory\":[\n{\"line\":\"rss\",\"over_time\":[1.0,null,2.0]}\n],\n"
            "\"units\":{\"insights\":{\"gain\":\"ns\"},"
            "\"sizes\":{\"from\":\"bytes\",\"calls\":\"count\"}}\n}\n");
}

}  // namespace
}  // namespace fathom::render
