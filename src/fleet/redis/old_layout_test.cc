// SPDX-License-Identifier: MIT
#include "fleet/redis/old_layout.h"

#include <gtest/gtest.h>

#include "fleet/record_table.h"

namespace fathom::fleet {
namespace {

TEST(OldLayout, NodesGoThereAndBack) {
  const std::vector<ProfileRow> rows = {{"g<int, \"2\">", "ld", "cycles", 9007199254740993},
                                        {"g<int, \"2\">", "ld", "misses:u", 0}};
  const std::string line = old_node_line(rows);
  EXPECT_EQ(R"({"g<int, \"2\">":{"execname":"ld","cycles":"9007199254740993","misses:u":"0"}})",
            line);
  const Result<OldLine> back = parse_old_line(line);
  ASSERT_TRUE(back);
  EXPECT_EQ(rows, back->rows);
  EXPECT_TRUE(back->record.empty());
}

TEST(OldLayout, BenchmarksGoThereAndBack) {
  for (const char* const time : {"time", "Exectime"}) {
    const Result<OldLine> line =
        parse_old_line(std::string(R"({"cache-misses:u": "12,345", "cycles": "supported>", ")") +
                       time + R"(": "1.25"})");
    ASSERT_TRUE(line);
    ASSERT_FALSE(line->record.empty());
    const Result<std::vector<std::string>> lines = old_benchmark_lines(line->record);
    ASSERT_TRUE(lines);
    EXPECT_EQ((std::vector<std::string>{R"({"Exectime":"1.25","cache-misses:u":"12345"})"}),
              *lines);
  }
}

TEST(OldLayout, EveryRepetitionIsALine) {
  const Result<std::vector<std::string>> lines = old_benchmark_lines(
      R"({"runs": [{"wall": 1.5, "events": {"a": {"value": 2.5}, "b": {"value": null}}}, {"wall": 2}]})");
  ASSERT_TRUE(lines);
  EXPECT_EQ((std::vector<std::string>{R"({"Exectime":"1.5","a":"2.5"})", R"({"Exectime":"2"})"}),
            *lines);
}

TEST(OldLayout, WhatIsNeither) {
  for (const char* const text :
       {"", "[]", "{}", "7", R"({"f": {"cycles": "1"}})", R"({"f": {"execname": "a", "e": "x"}})",
        R"({"f": {"execname": "a", "e": -1}})", R"({"cycles": "1"})", R"({"time": "soon"})"})
    EXPECT_FALSE(parse_old_line(text)) << text;
  EXPECT_FALSE(old_benchmark_lines("{}"));
  EXPECT_FALSE(old_benchmark_lines(R"({"runs": [7]})"));
}

TEST(RecordTable, HasARowForEachRun) {
  RecordTable table("benchmark");
  table.add(0, R"({"command": ["./a", "b c"], "runs": [{"exit": 0, "wall": 1.5,
      "events": {"cycles": {"value": 18446744073709551615}}}, {"exit": 1}]})");
  table.add(1, "damaged");
  table.add(2, R"({"command": ["x"]})");
  EXPECT_EQ(2, table.damaged());
  const Table whole = table.take();
  ASSERT_EQ(2U, whole.rows.size());
  std::vector<std::string> names;
  for (const Column& column : whole.columns) names.push_back(column.name);
  EXPECT_EQ((std::vector<std::string>{"record", "command", "run", "exit", "wall", "cycles"}),
            names);
  EXPECT_EQ("./a 'b c'", std::get<std::string>(whole.rows[0][1].data));
  EXPECT_EQ(18446744073709551615U, std::get<std::uint64_t>(whole.rows[0][5].data));
  EXPECT_TRUE(whole.rows[1][5].is_null());
}

}  // namespace
}  // namespace fathom::fleet
