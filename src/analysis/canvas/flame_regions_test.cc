// SPDX-License-Identifier: MIT
// Flame graphs by counts on regions, against SQL.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "analysis/canvas/flame.h"
#include "analysis/shown_rows.h"
#include "base/cell.h"
#include "trace/recording/recording_writer.h"

namespace fathom::analysis {
namespace {

namespace fs = std::filesystem;

struct Region {
  int tid, depth;
  std::int64_t ts, dur;
  const char* name;
  const char* faults;  // nullptr: it has no count
};

// A region inside a region that has no count, two threads, and a count that is no number.
constexpr Region kRegions[] = {
    {7, 0, 0, 1000, "run", "100"},      {7, 1, 100, 300, "step", "40"},
    {7, 2, 150, 50, "load", "30"},      {7, 1, 500, 300, "step", "20"},
    {7, 1, 850, 100, "child", nullptr}, {7, 2, 860, 50, "load", "5"},
    {7, 0, 1000, 100, "run", "0"},      {8, 0, 0, 700, "step", "9"},
    {8, 0, 800, 10, "odd", "many"},
};

class RegionFlames : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "fathom_flame_regions_" + std::to_string(getpid());
    fs::remove_all(path_);
    write();
    Result<Store> store = Store::open(path_);
    ASSERT_TRUE(store) << store.error().message;
    store_.emplace(std::move(*store));
  }
  void TearDown() override { fs::remove_all(path_); }

  void write() const {
    trace::Manifest manifest;
    manifest.start_realtime_ns = 1;
    manifest.host.hostname = "here";
    auto writer = trace::RecordingWriter::create(path_, manifest, {});
    ASSERT_TRUE(writer);
    for (const Region& region : kRegions) {
      trace::EventRow row;
      row.pid = 7;
      row.tid = region.tid;
      row.depth = region.depth;
      row.ts = region.ts;
      row.dur = region.dur;
      row.layer = writer->strings().code("app");
      row.name = writer->strings().code(region.name);
      trace::EventBatch batch;
      if (region.faults != nullptr)
        batch.args.add(writer->strings().code("page-faults"), region.faults);
      batch.push(row);
      ASSERT_TRUE(writer->append(batch));
    }
    ASSERT_TRUE(writer->finish().has_value());
  }

  // By name: what the nodes of a tree have for themselves.
  static std::map<std::string, std::int64_t> own_by_name(const Flame& flame) {
    std::map<std::string, std::int64_t> own;
    for (std::size_t i = 0; i < flame.name.size(); ++i) {
      if (flame.self[i] != 0) own[flame.names[flame.name[i]]] += flame.self[i];
    }
    return own;
  }

  std::string path_;
  std::optional<Store> store_;
};

TEST_F(RegionFlames, EachHasItsCountLessThoseInside) {
  // Of each, less those whose innermost counted region around them it is.
  constexpr char kOwn[] = R"(
    WITH counted AS (SELECT *, TRY_CAST(args['page-faults'] AS BIGINT) AS faults FROM events),
         placed AS (SELECT c.tid, c.ts, c.depth, c.faults,
                      (SELECT max(o.depth) FROM counted o WHERE o.tid = c.tid AND o.depth < c.depth
                         AND o.ts <= c.ts AND o.ts + o.dur >= c.ts + c.dur AND o.faults IS NOT NULL) AS outer_depth
                    FROM counted c WHERE c.faults IS NOT NULL)
    SELECT name, CAST(sum(own) AS BIGINT) FROM (
      SELECT o.name, o.faults - coalesce((SELECT sum(p.faults) FROM placed p WHERE p.tid = o.tid
        AND p.outer_depth = o.depth AND p.ts >= o.ts AND p.ts < o.ts + o.dur), 0) AS own
      FROM counted o WHERE o.faults IS NOT NULL) GROUP BY name HAVING sum(own) > 0)";
  const Result<Table> rows = store_->query(kOwn);
  ASSERT_TRUE(rows) << rows.error().message;
  std::map<std::string, std::int64_t> wanted;
  for (const auto& row : rows->rows) wanted[text_of(row[0])] = int_of(row[1]);
  EXPECT_EQ(wanted, (std::map<std::string, std::int64_t>{{"run", 35}, {"step", 39}, {"load", 35}}));
  for (const bool invert : {false, true}) {
    const Result<Flame> flame =
        flame_of_regions(*store_, {.weight = "region:page-faults", .invert = invert, .least = 0});
    ASSERT_TRUE(flame) << flame.error().message;
    EXPECT_EQ(flame->total, 109);
    EXPECT_EQ(flame->unit, "page-faults");
    if (!invert) {
      EXPECT_EQ(own_by_name(*flame), wanted);
    }
  }
}

TEST_F(RegionFlames, InTheOrderOfTimeEachThreadStandsForItself) {
  const Result<Flame> flame =
      flame_of_regions(*store_, {.weight = "region:page-faults", .in_time = true, .least = 0});
  ASSERT_TRUE(flame) << flame.error().message;
  EXPECT_EQ(flame->total, 109);
  std::map<std::string, std::int64_t> threads;
  for (std::size_t i = 1; i < flame->name.size(); ++i) {
    if (flame->parent[i] == 0) threads[flame->names[flame->name[i]]] = flame->totals[i];
  }
  EXPECT_EQ(threads, (std::map<std::string, std::int64_t>{{"pid 7, thread 7", 100},
                                                          {"pid 7, thread 8", 9}}));
}

TEST_F(RegionFlames, WhatTheFilterLeavesOutCountsForTheRegionAround) {
  RowFilter filter;
  filter.condition = "name <> 'step'";
  ASSERT_TRUE(show_rows(*store_, filter));
  const Result<Flame> flame =
      flame_of_regions(*store_, {.weight = "region:page-faults", .least = 0});
  ASSERT_TRUE(flame) << flame.error().message;
  EXPECT_EQ(own_by_name(*flame), (std::map<std::string, std::int64_t>{{"run", 65}, {"load", 35}}));
}

TEST_F(RegionFlames, AnEventThatNobodyCountedIsNone) {
  const Result<Flame> flame = flame_of_regions(*store_, {.weight = "region:it's"});
  ASSERT_FALSE(flame);
  EXPECT_EQ(flame.error().code, Code::kNotFound);
  EXPECT_TRUE(is_flame_of_regions("region:page-faults"));
  EXPECT_FALSE(is_flame_of_regions("page-faults"));
}

}  // namespace
}  // namespace fathom::analysis
