// SPDX-License-Identifier: MIT
#include "fleet/agents/profile_lines.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/text.h"
#include "fleet/profile_sums.h"
#include "fleet/row_json.h"

namespace fathom::fleet {
namespace {

struct Read {
  std::vector<ProfileRow> rows;
  std::int64_t damaged = 0;
  std::int64_t first = 0;
};

Read read(std::string_view text) {
  ProfileSums sums;
  ProfileLines lines([&](const ProfileRow& row) {
    EXPECT_TRUE(sums.add(row));
    return Status();
  });
  for (const std::string_view line : split(text, '\n')) EXPECT_TRUE(lines.add(line));
  EXPECT_TRUE(lines.finish());
  return {sums.take(), lines.damaged(), lines.first_damaged()};
}

TEST(ProfileLines, JsonLinesAreAddedUp) {
  const Read got = read(R"({"node": "f", "exec": "a", "event": "e", "count": 10}
{"event": "e:u", "count": 1, "node": "größe<int, 2>", "exec": "a b"}
{"node": "f", "exec": "a", "event": "e", "count": 7})");
  EXPECT_EQ((std::vector<ProfileRow>{{"f", "a", "e", 17}, {"größe<int, 2>", "a b", "e:u", 1}}),
            got.rows);
  EXPECT_EQ(0, got.damaged);
}

TEST(ProfileLines, DamagedLinesAreCountedAndLeaveTheOthers) {
  const Read got = read(
      "{\"node\": \"f\", \"exec\": \"a\", \"event\": \"e\", \"count\": 1}\n"
      "{\"node\": \"f\", \"ex\n"
      "{\"node\": \"f\", \"exec\": \"a\", \"event\": \"e\", \"count\": \"many\"}\n"
      "\xff\xfe\n[]\nwords\n"
      "{\"node\": \"f\", \"exec\": \"a\", \"event\": \"e\", \"count\": 1}");
  EXPECT_EQ((std::vector<ProfileRow>{{"f", "a", "e", 2}}), got.rows);
  EXPECT_EQ(5, got.damaged);
  EXPECT_EQ(2, got.first);
}

TEST(ProfileLines, StacksOfPerfCountForTheirInnermostFrame) {
  const Read got = read(R"(laps  2091  4088.470580:    5000000 cpu-clock:
	            11db lap+0x3b (/opt/laps)
	            1250 main+0x22 (/opt/laps)

my worker  2091/2093 [001]  4088.488762:    250000 cpu-clock:k:  ffffffff821cb4d5 schedule+0x1 ([kernel.kallsyms])
laps  2091 [000]  4088.5:         10 cache-misses:u:      2d0 work<int, 2>::operator()(int) const+0x30 (/opt/a b/laps)
laps  2091 [000]  4088.6:         3 branch-misses:    7f25 [unknown] ([unknown])
)");
  EXPECT_EQ((std::vector<ProfileRow>{
                {"[unknown]", "[unknown]", "branch-misses", 3},
                {"lap", "laps", "cpu-clock", 5'000'000},
                {"schedule", "[kernel.kallsyms]", "cpu-clock:k", 250'000},
                {"work<int, 2>::operator()(int) const", "laps", "cache-misses:u", 10}}),
            got.rows);
  EXPECT_EQ(0, got.damaged);
}

TEST(ProfileLines, RowsThatAreNone) {
  for (const char* const text :
       {"", "7", "[]", "{}", R"({"exec": "a", "event": "e", "count": 1})",
        R"({"node": 7, "exec": "a", "event": "e", "count": 1})",
        R"({"node": "f", "exec": "a", "event": "e"})",
        R"({"node": "f", "exec": "a", "event": "e", "count": 0.5})",
        R"({"node": "f", "exec": "a", "event": "e", "count": -1})",
        R"({"node": "f", "exec": "a", "event": "e", "count": 9223372036854775808})",
        R"({"node": "f", "exec": "a", "event": "e", "count": 1} x)"})
    EXPECT_FALSE(parse_row(text)) << text;
}

TEST(ProfileSums, RefusesASumThatDoesNotFit) {
  ProfileSums sums;
  EXPECT_TRUE(sums.add({"f", "a", "e", std::numeric_limits<std::int64_t>::max()}));
  EXPECT_FALSE(sums.add({"f", "a", "e", 1}));
  EXPECT_TRUE(sums.add({"g", "a", "e", 1}));
  EXPECT_EQ(2U, sums.rows());
  EXPECT_EQ(6U, sums.bytes());
  EXPECT_EQ((std::vector<ProfileRow>{{"f", "a", "e", std::numeric_limits<std::int64_t>::max()},
                                     {"g", "a", "e", 1}}),
            sums.take());
  EXPECT_TRUE(sums.empty());
  EXPECT_EQ(0U, sums.bytes());
}

}  // namespace
}  // namespace fathom::fleet
