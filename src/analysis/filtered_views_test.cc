// SPDX-License-Identifier: MIT
// What belongs to a part of a run, [from, to): what lies exactly at its edges, and what reaches
// over them.
#include "analysis/filtered_views.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "analysis/view_tools.h"
#include "trace/recording/packer.h"
#include "trace/testing/recordings.h"

namespace fathom::analysis {
namespace {

using trace::testing::SpoolBuilder;
using trace::testing::TempDir;

constexpr std::int64_t kSecond = 1'000'000'000;

class PartTest : public ::testing::Test {
 protected:
  // Four intervals of a second, with 1, 10, 100 and 1000 calls.
  PartTest() {
    for (std::int64_t second = 0, calls = 1; second < 4; second++, calls *= 10) {
      trace::IntervalRow row;
      row.ts = second * kSecond;
      row.width = kSecond;
      row.pid = row.tid = 1;
      row.layer = strings_.code("syscall");
      row.name = strings_.code("read");
      row.calls = calls;
      row.dur = 5;
      rows_.intervals.rows.push_back(row);
    }
  }

  void add_event(std::int64_t ts, std::int64_t dur, const char* name) {
    trace::EventRow row;
    row.ts = ts;
    row.dur = row.self = dur;
    row.pid = row.tid = 1;
    row.layer = strings_.code("net");
    row.name = strings_.code(name);
    rows_.events.push(row);
  }
  void add_counter(std::int64_t ts) {
    trace::CounterRow row;
    row.ts = ts;
    row.layer = strings_.code("resource");
    row.name = strings_.code("rss");
    rows_.counters.rows.push_back(row);
  }
  Store opened() {
    const SpoolBuilder builder(directory_.path());
    trace::Manifest manifest;
    manifest.origin = "run";
    manifest.duration_ns = 5 * kSecond;
    trace::Packer packer = trace::Packer::open(directory_.path(), manifest, {}).value();
    EXPECT_TRUE(packer.append(rows_, strings_).has_value());
    EXPECT_TRUE(packer.finish().has_value());
    return Store::open(directory_.path()).value();
  }
  static RowFilter part(std::optional<std::int64_t> from, std::optional<std::int64_t> to) {
    RowFilter filter;
    filter.from_ns = from;
    filter.to_ns = to;
    return filter;
  }
  static std::int64_t number(Store& store, const std::string& sql) {
    const Result<Table> table = store.query(sql);
    EXPECT_TRUE(table) << sql << ": " << table.error().message;
    return table ? int_of(table->rows.at(0).at(0)) : -1;
  }

  TempDir directory_;
  trace::Strings strings_;
  trace::HostRows rows_;
};

// Whole intervals count; one that the part cuts is left out, and said so.
TEST_F(PartTest, IntervalsAtTheEdges) {
  struct Case {
    std::optional<std::int64_t> from;
    std::optional<std::int64_t> to;
    std::int64_t calls;
    std::string left_out;
  };
  const Case cases[] = {
      {kSecond, 3 * kSecond, 110, ""},
      {kSecond + 1, 3 * kSecond, 100, "10 calls"},
      {kSecond - 1, 3 * kSecond, 110, "1 call"},
      {kSecond, 3 * kSecond - 1, 10, "100 calls"},
      {kSecond, 3 * kSecond + 1, 110, "1000 calls"},
      {0, kSecond, 1, ""},
      {3 * kSecond, {}, 1000, ""},
      {{}, kSecond, 1, ""},
  };
  Store store = opened();
  for (const Case& c : cases) {
    const auto words = show_only(store, part(c.from, c.to));
    ASSERT_TRUE(words.has_value()) << words.error().message;
    const std::string where =
        std::to_string(c.from.value_or(-1)) + " " + std::to_string(c.to.value_or(-1));
    EXPECT_EQ(number(store, "SELECT CAST(coalesce(sum(calls), 0) AS BIGINT) FROM intervals"),
              c.calls)
        << where;
    EXPECT_EQ(number(store,
                     "SELECT CAST(coalesce(sum(calls), 0) AS BIGINT) FROM summary "
                     "WHERE layer = 'syscall'"),
              c.calls)
        << where;
    EXPECT_EQ(words->size(), c.left_out.empty() ? 0U : 1U) << where;
    if (words->size() == 1) {
      EXPECT_NE(words->at(0).find(": " + c.left_out + " "), std::string::npos) << words->at(0);
    }
  }
}

// The recording has calls, so "no call was recorded" would be wrong.
TEST_F(PartTest, WhatAFilterLeavesOutWasRecorded) {
  add_event(0, kSecond, "work");
  Store store = opened();
  RowFilter filter;
  filter.names = {"nothing"};
  const ViewDef* const overview = *choose_view("", {});
  const Result<Report> report = report_part(store, *overview, {}, filter);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(std::ranges::count(report->words, "No recorded call matches."), 1);
  EXPECT_EQ(std::ranges::count(report->words, "No call was recorded."), 0);
  const ViewDef* const functions = *choose_view("functions", {});
  const Result<Report> table = report_shown(store, *functions, {}, filter, {});
  ASSERT_TRUE(table.has_value()) << table.error().message;
  EXPECT_TRUE(table->sections[0].table.note.starts_with("no recorded call matches"));
}

TEST_F(PartTest, EventsAtTheEdges) {
  add_event(0, kSecond, "ends at it");
  add_event(kSecond, 0, "instant at it");
  add_event(kSecond, 10, "begins at it");
  add_event(kSecond - 4, 10, "reaches over it");
  add_event(2 * kSecond - 10, 10, "ends at the end");
  add_event(2 * kSecond - 3, 10, "reaches over the end");
  add_event(2 * kSecond, 0, "instant at the end");
  add_event(2 * kSecond, 10, "begins at the end");
  add_event(3 * kSecond, 10, "after it");
  Store store = opened();
  ASSERT_TRUE(show_only(store, part(kSecond, 2 * kSecond)).has_value());
  struct Case {
    const char* name;
    std::int64_t dur;  // -1: it is not there
  };
  const Case cases[] = {
      {"ends at it", -1},         {"instant at it", 0},      {"begins at it", 10},
      {"reaches over it", 6},     {"ends at the end", 10},   {"reaches over the end", 3},
      {"instant at the end", -1}, {"begins at the end", -1}, {"after it", -1}};
  for (const Case& c : cases) {
    EXPECT_EQ(
        number(store, std::string("SELECT coalesce(max(dur), -1) FROM events WHERE name = '") +
                          c.name + "'"),
        c.dur)
        << c.name;
  }
  EXPECT_EQ(number(store, "SELECT min(ts) FROM events"), kSecond);
  EXPECT_EQ(number(store, "SELECT max(ts + dur) FROM events"), 2 * kSecond);
}

TEST_F(PartTest, CountersAtTheEdges) {
  for (const std::int64_t ts : {kSecond - 1, kSecond, 2 * kSecond - 1, 2 * kSecond})
    add_counter(ts);
  Store store = opened();
  ASSERT_TRUE(show_only(store, part(kSecond, 2 * kSecond)).has_value());
  EXPECT_EQ(number(store, "SELECT count(*) FROM counters"), 2);
  EXPECT_EQ(number(store, "SELECT min(ts) FROM counters"), kSecond);
}

// Two parts that lie side by side have each row once between them.
TEST_F(PartTest, PartsSideBySideShareNothing) {
  for (std::int64_t ts = kSecond - 2; ts < kSecond + 3; ts++) {
    add_event(ts, 0, "instant");
    add_counter(ts);
  }
  std::int64_t events = 0, counters = 0, calls = 0;
  Store store = opened();
  for (const auto& [from, to] : {std::pair{std::int64_t{0}, kSecond}, {kSecond, 4 * kSecond}}) {
    ASSERT_TRUE(show_only(store, part(from, to)).has_value());
    events += number(store, "SELECT count(*) FROM events");
    counters += number(store, "SELECT count(*) FROM counters");
    calls += number(store, "SELECT CAST(sum(calls) AS BIGINT) FROM intervals");
  }
  EXPECT_EQ(events, 5);
  EXPECT_EQ(counters, 5);
  EXPECT_EQ(calls, 1111);
}

}  // namespace
}  // namespace fathom::analysis
