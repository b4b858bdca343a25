// SPDX-License-Identifier: MIT
#include "analysis/application/comparison.h"

#include <gtest/gtest.h>

#include "base/cell.h"

namespace fathom::analysis {
namespace {

constexpr char kProfile[] = R"({"schema": 1, "title": "my/app:1", "needs": {
 "cpu_cores": {"typical": 0.984, "peak": 1.5},
 "memory_bytes": {"typical": 1048576, "peak": 2097152},
 "net_in_rate": {"typical": null, "peak": null, "reason": "no network"}},
 "recommend": {"requests": {"cpu": "1083m", "memory": "2Mi"}, "limits": {"cpu": "1800m", "memory": null}},
 "overhead": {"ratio": 1.25},
 "runs": [{"kind": "probed", "exit": 0, "oom": false, "timed_out": false, "wall": 9, "recording": "run-1.fathom"},
  {"kind": "plain", "exit": 0, "oom": false, "timed_out": false, "wall": 2, "recording": "run-2.fathom"},
  {"kind": "plain", "exit": 137, "oom": true, "timed_out": false, "wall": 4, "recording": "../../etc"},
  {"kind": "plain", "exit": 9e99, "oom": 1, "wall": 6}]})";

const Value& cell(const Table& table, std::string_view column) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == column) return table.rows.at(0).at(i);
  }
  ADD_FAILURE() << "no column " << column;
  static const Value kNone;
  return kNone;
}

TEST(Comparison, AProfileIsOneLine) {
  const Result<ProfileFigures> read = read_figures(kProfile);
  ASSERT_TRUE(read) << read.error().message;
  const Table table = comparison_table({&*read, 1});
  EXPECT_EQ(text_of(cell(table, "application")), "my/app:1");
  EXPECT_EQ(text_of(cell(table, "exit")), "137, out of memory");
  EXPECT_EQ(number_in(cell(table, "wall")), 4e9);  // plain runs alone
  EXPECT_EQ(number_in(cell(table, "cores")), 0.98);
  EXPECT_EQ(number_in(cell(table, "cores_peak")), 1.5);
  EXPECT_EQ(number_in(cell(table, "memory_peak")), 2097152);
  EXPECT_TRUE(cell(table, "net_in_s").is_null());
  EXPECT_TRUE(cell(table, "disk_read_s").is_null());
  EXPECT_EQ(number_in(cell(table, "overhead")), 25);
  EXPECT_EQ(text_of(cell(table, "limit_cpu")), "1800m");
  EXPECT_TRUE(cell(table, "limit_memory").is_null());
  EXPECT_EQ(short_words(*read),
            "4.00 s, 0.98 cores (peak 1.50), 1.00 MiB (peak 2.00 MiB), exit status 137, out of "
            "memory");
}

TEST(Comparison, RecordingsAreNamesBesideTheProfile) {
  const Result<ProfileFigures> read = read_figures(kProfile);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->runs.at(1).recording, "run-2.fathom");
  EXPECT_EQ(read->runs.at(2).recording, "");
  EXPECT_EQ(read->runs.at(3).exit, 255);
}

TEST(Comparison, WhatIsNoProfileIsRefused) {
  for (const char* text : {"", "{", "[]", "{}", R"({"needs": 1, "runs": []})", R"({"needs": {}})"})
    EXPECT_FALSE(read_figures(text)) << text;
  const Result<ProfileFigures> least = read_figures(R"({"needs": {"pids": 3}, "runs": [7]})");
  ASSERT_TRUE(least);
  EXPECT_TRUE(cell(comparison_table({&*least, 1}), "wall").is_null());
}

TEST(Comparison, AProfileInMemoryIsTheSameLine) {
  Profile profile;
  profile.title = "a";
  profile.runs = {{.kind = kProbed, .recording = "/x/run-1.fathom", .wall_s = 2}};
  profile.needs = {{.name = "cpu_cores", .unit = "cores", .amount = {.typical = 1, .peak = 2}}};
  const ProfileFigures figures = figures_of(profile);
  const Table table = comparison_table({&figures, 1});
  EXPECT_EQ(number_in(cell(table, "wall")), 2e9);
  EXPECT_EQ(number_in(cell(table, "cores_peak")), 2);
}

}  // namespace
}  // namespace fathom::analysis
