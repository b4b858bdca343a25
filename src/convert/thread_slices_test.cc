// SPDX-License-Identifier: MIT
#include "convert/thread_slices.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/filtered_views.h"
#include "analysis/import/text_recording.h"
#include "base/files.h"
#include "convert/row_cells.h"
#include "convert/store_stream.h"

namespace fathom::convert {
namespace {

class StreamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/fathom-stream-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
  }
  void TearDown() override { (void)remove_tree(root_).has_value(); }

  analysis::Store opened(const std::string& lines) {
    const std::string path = join_path(root_, "t.fathom");
    const auto rows = analysis::write_text_recording(
        "fathom recording 1\nrun host=h duration=1000000\n" + lines, path);
    EXPECT_TRUE(rows.has_value()) << rows.error().message;
    Result<analysis::Store> store = analysis::Store::open(path);
    EXPECT_TRUE(store.has_value());
    return std::move(store).value();
  }

  std::string root_;
};

std::string many_events() {
  std::string lines;
  const auto add = [&](const std::string& who, int count, int step) {
    for (int i = 0; i < count; ++i) {
      lines += "event " + who + " " + std::to_string(i * step) +
               " +1 posix read args.n=" + std::to_string(i) + "\n";
    }
  };
  add("1/1", 500, 7);  // longer than a slice
  add("1/2", 3, 10);
  add("2/1", 4, 10);
  add("2/9", 60, 0);  // all at one time
  add("3/3", 1, 10);
  add("-", 5, 10);
  add("4", 2, 10);
  lines += "event 5/5 0 +1 app far host=other\n";
  return lines;
}

// Every row once, threads one after the other, and time never goes back.
TEST_F(StreamTest, SlicesAreInOrderAndWhole) {
  analysis::Store store = opened(many_events());
  for (const std::int64_t most : {1, 10, 100, 100'000}) {
    std::set<std::tuple<std::string, std::int64_t, std::int64_t>> seen;
    std::tuple<std::string, std::int64_t, std::int64_t> thread{"", -2, -2};
    std::int64_t time = 0;
    std::int64_t rows = 0;
    std::size_t largest = 0;
    const Status status =
        each_slice(store, " WHERE true", most, [&](const std::string& condition) -> Status {
          std::size_t in_slice = 0;
          FATHOM_TRY(each_row(store,
                              "SELECT host, pid, tid, ts FROM events" + condition +
                                  " ORDER BY host, pid NULLS FIRST, tid NULLS FIRST, ts",
                              [&](RowCells cells) -> Status {
                                std::string host(cells.text());
                                const std::int64_t pid = cells.number().value_or(-1);
                                const std::int64_t tid = cells.number().value_or(-1);
                                const std::int64_t ts = cells.number_or_0();
                                const std::tuple key{host, pid, tid};
                                if (key != thread) {
                                  EXPECT_TRUE(seen.insert(key).second) << host << pid << tid;
                                  time = ts;
                                }
                                EXPECT_GE(ts, time);
                                thread = key;
                                time = ts;
                                ++rows;
                                ++in_slice;
                                return {};
                              }));
          largest = std::max(largest, in_slice);
          return {};
        });
    ASSERT_TRUE(status.has_value()) << status.error().message;
    EXPECT_EQ(rows, 576) << most;
    EXPECT_EQ(seen.size(), 8U);
    EXPECT_LE(largest, std::max<std::size_t>(60, static_cast<std::size_t>(most)));
  }
}

// Each query costs as much as many thousand rows.
TEST_F(StreamTest, ManyMachinesAndRowsOfNoThreadTakeFewQueries) {
  std::string lines;
  for (int i = 1; i <= 20; ++i) {
    const std::string host = " host=h" + std::to_string(i) + "\n";
    lines += "event " + std::to_string(i) + "/1 0 +1 posix read" + host;
    lines += "event " + std::to_string(i) + " 0 +1 gpu kernel device=0" + host;
  }
  analysis::Store store = opened(lines);
  std::size_t slices = 0;
  std::int64_t rows = 0;
  ASSERT_TRUE(each_slice(store, " WHERE true", 30, [&](const std::string& condition) -> Status {
    ++slices;
    return each_row(store, "SELECT count(*) FROM events" + condition,
                    [&](RowCells cells) -> Status {
                      rows += cells.number_or_0();
                      return {};
                    });
  }));
  EXPECT_EQ(slices, 2U);
  EXPECT_EQ(rows, 40);
}

TEST_F(StreamTest, FiltersLeaveTheirPart) {
  analysis::Store store = opened(
      "event 1/1 0 +100 app step\nevent 1/1 10 +20 posix pread bytes=5 category=read\n"
      "event 2/2 500 +10 posix read bytes=9 category=read\ncounter 1 5 resource rss 3\n");
  struct Case {
    RowFilter filter;
    std::vector<std::string> names;
  };
  RowFilter layers, names, pids, times, split;
  layers.layers = {"posix"};
  names.names = {"p*", "st?p"};
  pids.pids = {2};
  times.from_ns = 101;
  times.to_ns = 501;
  split.host = "elsewhere";
  const Case cases[] = {{{}, {"step", "pread", "read"}},
                        {layers, {"pread", "read"}},
                        {names, {"step", "pread"}},
                        {pids, {"read"}},
                        {times, {"read"}},
                        {split, {}}};
  for (const auto& [filter, wanted] : cases) {
    StoreStream stream(store, filter);
    std::vector<std::string> got;
    ASSERT_TRUE(stream
                    .events(render::EventOrder::kByThread,
                            [&](const render::ExportEvent& event) -> Status {
                              got.emplace_back(event.name);
                              return {};
                            })
                    .has_value());
    EXPECT_EQ(got, wanted);
  }
}

// Sums of a part are those that the events say.
TEST_F(StreamTest, SumsOfAPart) {
  analysis::Store store = opened(
      "event 1/1 0 +100 app step\nevent 1/1 10 +20 posix read bytes=5 category=read\n"
      "event 1/1 40 +2 posix read bytes=6 category=read error=EIO\n"
      "event 2/2 500 +10 posix read bytes=9 category=read\n");
  RowFilter filter;
  filter.pids = {1};
  ASSERT_TRUE(analysis::show_only(store, filter).has_value());
  const std::pair<const char*, std::int64_t> cases[] = {
      {"SELECT count(*) FROM events", 3},
      {"SELECT self FROM summary WHERE name = 'step'", 78},
      {"SELECT calls FROM summary WHERE name = 'read'", 2},
      {"SELECT errors FROM summary WHERE name = 'read'", 1},
      {"SELECT bytes FROM summary WHERE name = 'read'", 11},
      {"SELECT hist[5] FROM summary WHERE name = 'read'", 1},   // 16 to 31 ns
      {"SELECT sizes[3] FROM summary WHERE name = 'read'", 1},  // a failed call has no size
      {"SELECT CAST(sum(busy) AS BIGINT) FROM timeline", 100}};
  for (const auto& [sql, wanted] : cases) {
    const Result<Table> found = store.query(sql);
    ASSERT_TRUE(found.has_value()) << found.error().message;
    EXPECT_EQ(std::get<std::int64_t>(found->rows.at(0).at(0).data), wanted) << sql;
  }
}

TEST_F(StreamTest, ProcessesToSplitBy) {
  analysis::Store store =
      opened("event 1/1 0 +100 app step\ncounter 3 5 resource rss 3\ncounter - 5 resource x 3\n");
  const auto processes = processes_of(store, {});
  ASSERT_TRUE(processes.has_value()) << processes.error().message;
  EXPECT_EQ(*processes, (std::vector<std::pair<std::string, std::int64_t>>{{"h", 1}, {"h", 3}}));
  EXPECT_TRUE(has_rows_without_process(store, {}).value());
  RowFilter one;
  one.pids = {1};
  EXPECT_FALSE(has_rows_without_process(store, one).value());
}

TEST(ExportedTables, UnknownOnesAreUsageErrors) {
  EXPECT_TRUE(analysis::find_filtered_view("samples").has_value());
  const Result<analysis::FilteredView> view = analysis::find_filtered_view("secrets");
  ASSERT_FALSE(view.has_value());
  EXPECT_EQ(view.error().code, Code::kUsage);
}

}  // namespace
}  // namespace fathom::convert
