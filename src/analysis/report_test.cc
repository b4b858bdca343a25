// SPDX-License-Identifier: MIT
#include "analysis/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "analysis/filtered_views.h"
#include "analysis/testing/sample_recording.h"
#include "analysis/view_tools.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

namespace fs = std::filesystem;
using analysis::testing::Sample;
using analysis::testing::write_sample;
using ::testing::HasSubstr;

class ReportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "fathom_report_" + std::to_string(getpid());
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  Report report(const std::string& view, const ViewOptions& options = {},
                const Sample& sample = {}) {
    const std::string path = root_ + "/" + std::to_string(++made_);
    EXPECT_TRUE(write_sample(path, sample));
    Result<Store> store = Store::open(path, {.resolver = {}, .threads = 1});
    EXPECT_TRUE(store) << store.error().message;
    const Result<const ViewDef*> chosen = choose_view(view, options);
    EXPECT_TRUE(chosen) << chosen.error().message;
    Result<Report> made = make_report(**chosen, *store, options);
    EXPECT_TRUE(made) << made.error().message;
    return std::move(made).value();
  }

  std::string root_;
  int made_ = 0;
};

// Rows as lines of "a|b|c": golden texts without a renderer, which this room does not know.
std::string cell_text(const Value& cell) {
  if (cell.is_null()) return "-";
  if (const auto* number = std::get_if<std::int64_t>(&cell.data)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&cell.data)) return *text;
  if (const auto* real = std::get_if<double>(&cell.data)) {
    return std::to_string(std::lround(*real * 10)) + "/10";
  }
  if (const auto* list = std::get_if<List>(&cell.data)) {
    std::vector<std::string> items;
    for (const Value& item : *list) items.push_back(cell_text(item));
    return "[" + join(items, " ") + "]";
  }
  return "?";
}

std::string lines(const Table& table) {
  std::string text;
  for (const Column& column : table.columns) text += (text.empty() ? "" : "|") + column.name;
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (const Value& cell : row) cells.push_back(cell_text(cell));
    text += "\n" + join(cells, "|");
  }
  return text;
}

const Table& table_of(const Report& report, std::string_view title) {
  for (const Section& section : report.sections) {
    if (section.table.title == title) return section.table;
  }
  ADD_FAILURE() << "no table " << title;
  static const Table none;
  return none;
}

TEST_F(ReportTest, FunctionsBySelfTime) {
  const Report made = report("functions");
  EXPECT_EQ(lines(made.sections[0].table),
            "name|layer|self|share|total|calls|p50|p99|max|bytes\n"
            "step|app|400000|400/10|500000|1|500000|500000|500000|-\n"
            "pread|posix|100000|100/10|100000|100|1000|1000|1000|409600\n"
            "open|posix|3000|3/10|3000|1|3000|3000|3000|-\n"
            "write|posix|2000|2/10|2000|1|2000|2000|2000|100");
}

TEST_F(ReportTest, FunctionsByWhatWasAsked) {
  const Report made = report("functions", {.by = {"file"}, .top = 1});
  const Table& table = made.sections[0].table;
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_TRUE(table.rows[0][0].is_null());  // the region has no file
  EXPECT_THAT(table.note, HasSubstr("1 of 4"));
}

TEST_F(ReportTest, FilesByTime) {
  EXPECT_EQ(lines(report("files").sections[0].table),
            "file|time|share|calls|errors|read|written|per_read|per_write\n"
            "/data/in|100000|100/10|100|0|409600|0|4096|-\n"
            "/data/none|3000|3/10|1|1|0|0|-|-\n"
            "/data/out|2000|2/10|1|0|0|100|-|100");
}

TEST_F(ReportTest, LayersWithWhatLiesOutside) {
  const Report made = report("layers");
  EXPECT_EQ(lines(table_of(made, "Time by layer")),
            "layer|wall|self|share|total|calls|errors|bytes\n"
            "app|500000|400000|400/10|500000|1|0|-\n"
            "posix|105000|105000|105/10|105000|102|1|409700\n"
            "(outside recorded calls)|-|495000|495/10|-|-|-|-");
}

TEST_F(ReportTest, HistogramsOfPowersOfTwo) {
  EXPECT_EQ(lines(report("sizes").sections[0].table),
            "layer|category|from|calls\nposix|read|4096|100\nposix|write|64|1");
  EXPECT_EQ(lines(report("latencies", {.by = {"layer"}, .top = -1}).sections[0].table),
            "layer|from|calls\napp|262144|1\nposix|512|100\nposix|1024|1\nposix|2048|1");
}

TEST_F(ReportTest, ProcessesAndThreads) {
  EXPECT_EQ(lines(report("processes").sections[0].table),
            "pid|ppid|name|command|start|wall|exit|in_calls|calls|read|written\n"
            "10|1|work|work --fast|0|1000000|0|505000|103|409600|100");
  EXPECT_EQ(lines(report("threads").sections[0].table),
            "pid|tid|name|start|wall|rank\n10|10|work|0|1000000|-");
}

TEST_F(ReportTest, ResourcesOverTime) {
  EXPECT_EQ(
      lines(table_of(report("resources"), "Memory over time")),
      "pid|program|line|mean|max|over_time\n10|work|rss|15360/10|20480/10|[10240/10 20480/10]");
}

TEST_F(ReportTest, LossesAreTold) {
  EXPECT_EQ(lines(report("losses", {}, {.lost = 5}).sections[0].table),
            "layer|reason|count\nposix|spool full|5");
  EXPECT_EQ(report("losses").sections[0].table.note, "nothing was lost");
}

TEST_F(ReportTest, TheOverviewSaysWhereTheTimeWent) {
  const Report made = report("");
  const std::string words = join(made.words, "\n");
  EXPECT_THAT(
      words, HasSubstr("work --fast: 1.00 ms wall time, 1 process, 1 thread, 103 events on here."));
  EXPECT_THAT(words, HasSubstr("app step took 400 us, 40.0 % of the wall time, excluding nested "
                               "calls: 1 call."));
  EXPECT_THAT(words, HasSubstr("posix pread took 100 us, 10.0 % of the wall time: 100 calls on in, "
                               "1.00 us each, 4.00 KiB per call."));
  EXPECT_THAT(words, HasSubstr("49.5 % of the main thread's time was outside recorded calls"));
  EXPECT_THAT(words, HasSubstr("Nothing was lost."));
  EXPECT_THAT(words, HasSubstr("Recording cost the program about 10.0 us (1.0 % of its time)"));
  for (const char* title :
       {"Time by layer", "Top functions", "Top files", "I/O sizes", "I/O latencies", "Processes",
        "Memory over time", "Layers over time", "Layers"}) {
    EXPECT_FALSE(table_of(made, title).rows.empty()) << title;
  }
  EXPECT_THAT(table_of(made, "Layers").note, HasSubstr("not recorded: python, heap"));
}

// 100 reads of 1000 ns inside the region, a write and an open outside it.
TEST_F(ReportTest, OverlapOfOneThreadIsNone) {
  EXPECT_EQ(lines(report("overlap").sections[0].table),
            "busy|app_io|unoverlapped_app_io|posix_io|unoverlapped_posix_io|compute|"
            "unoverlapped_compute\n505000|105000|105000|105000|105000|400000|400000");
}

TEST_F(ReportTest, TheTreeHasTheHottestFirst) {
  const Report made = report("tree");
  EXPECT_EQ(lines(table_of(made, "Call tree")),
            "depth|call|layer|calls|total|share|self\n"
            "0|step|app|1|500000|500/10|400000\n"
            "1|pread|posix|100|100000|100/10|100000\n"
            "0|open|posix|1|3000|3/10|3000\n"
            "0|write|posix|1|2000|2/10|2000");
  EXPECT_EQ(report("tree", {.by = {}, .depth = 1}).sections[0].table.rows.size(), 3U);
}

TEST_F(ReportTest, EveryViewAnswersInSqlToo) {
  const std::string path = root_ + "/sql";
  ASSERT_TRUE(write_sample(path));
  Result<Store> store = Store::open(path, {.resolver = {}, .threads = 1});
  ASSERT_TRUE(store) << store.error().message;
  for (const ViewDef* view : views()) {
    // Words, and a tree of a call that has to be named.
    if (view->name == "overview" || view->name == "explain") continue;
    const std::string_view name = name_in_sql(view);
    const Result<Table> found = store->query_untrusted("SELECT * FROM " + std::string(name));
    ASSERT_TRUE(found) << name << ": " << found.error().message;
    EXPECT_FALSE(found->columns.empty()) << name;
  }
}

// Each alone, in a store that has made none: it brings what it reads along.
TEST_F(ReportTest, EveryViewCanBeTheFirst) {
  const std::string path = root_ + "/first";
  ASSERT_TRUE(write_sample(path));
  for (const ViewDef* view : views()) {
    if (view->sql == nullptr) continue;
    Result<Store> store = Store::open(path, {.resolver = {}, .threads = 1});
    ASSERT_TRUE(store) << store.error().message;
    const Result<Table> found =
        store->query_untrusted("FROM " + std::string(name_in_sql(view)) + " LIMIT 1");
    EXPECT_TRUE(found) << view->name << ": " << found.error().message;
  }
}

// Names that no word of the statement is, and those of views that nobody has asked for yet.
TEST_F(ReportTest, ViewsAreThereForWhoeverLooksForThem) {
  const std::string path = root_ + "/sought";
  ASSERT_TRUE(write_sample(path));
  const auto asked = [&](const std::string& sql) -> Result<Table> {
    FATHOM_ASSIGN(Store store, Store::open(path, {.resolver = {}, .threads = 1}));
    return store.query(sql);
  };
  const Result<Table> listed = asked(
      "SELECT count(*) FROM duckdb_views() WHERE view_name IN ('functions', 'waits', 'time')");
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(lines(*listed), "count_star()\n3");
  for (const char* list : {"FROM (DESC) SELECT count(*)", "FROM ( desc ) SELECT count(*)"})
    EXPECT_EQ(lines(*asked(list)), lines(*asked("FROM (DESCRIBE) SELECT count(*)"))) << list;
  const Result<Table> composed = asked("FROM query_table('func' || 'tions') SELECT name LIMIT 1");
  EXPECT_TRUE(composed) << composed.error().message;
  EXPECT_TRUE(asked("SELECT name FROM \"FUNCTIONS\" LIMIT 1"));
  const Result<Table> misspelt = asked("FROM functoins");
  ASSERT_FALSE(misspelt);
  EXPECT_THAT(misspelt.error().hint, HasSubstr("\"functions\""));
}

// Tables that views are made of are made for whoever names them.
TEST_F(ReportTest, MadeTablesAreMadeWhereTheyAreNamed) {
  const std::string path = root_ + "/made";
  ASSERT_TRUE(write_sample(path));
  for (const char* name : {"tree_nodes", "phase_times", "overlap_times", "training_tasks",
                           "training_steps", "gpu_idle_times", "layer_walls"}) {
    Result<Store> store = Store::open(path, {.resolver = {}, .threads = 1});
    ASSERT_TRUE(store) << store.error().message;
    const Result<Table> found = store->query_untrusted("SELECT count(*) FROM " + std::string(name));
    EXPECT_TRUE(found) << name << ": " << found.error().message;
  }
}

TEST_F(ReportTest, AConditionOnAViewOfEventsSaysSo) {
  const std::string path = root_ + "/condition";
  ASSERT_TRUE(write_sample(path));
  for (const char* view : {"waits", "moved", "events", "bandwidth"}) {
    Result<Store> store = Store::open(path, {.resolver = {}, .threads = 1});
    ASSERT_TRUE(store) << store.error().message;
    RowFilter filter;
    filter.condition = "EXISTS (SELECT 1 FROM " + std::string(view) + ")";
    const auto shown = show_only(*store, filter);
    ASSERT_FALSE(shown) << view;
    EXPECT_THAT(shown.error().message, HasSubstr("uses a view that is computed from events"));
  }
}

// Percentiles in SQL are those of the report.
TEST_F(ReportTest, FunctionsInSqlAreThoseOfTheReport) {
  const std::string path = root_ + "/functions";
  ASSERT_TRUE(write_sample(path));
  Result<Store> store = Store::open(path, {.resolver = {}, .threads = 1});
  ASSERT_TRUE(store) << store.error().message;
  const Result<Table> found = store->query(
      "SELECT name, layer, self, total, calls, p50, p99, max FROM functions ORDER BY self DESC");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(lines(*found),
            "name|layer|self|total|calls|p50|p99|max\n"
            "step|app|400000|500000|1|500000|500000|500000\n"
            "pread|posix|100000|100000|100|1000|1000|1000\n"
            "open|posix|3000|3000|1|3000|3000|3000\n"
            "write|posix|2000|2000|1|2000|2000|2000");
}

TEST_F(ReportTest, UnknownViewsAndGroupingsAreUsageErrors) {
  const auto no_view = choose_view("sound", {});
  ASSERT_FALSE(no_view);
  EXPECT_EQ(no_view.error().code, Code::kUsage);
  EXPECT_THAT(no_view.error().hint, HasSubstr("functions"));
  const auto no_grouping = choose_view("functions", {.by = {"colour"}, .top = -1});
  ASSERT_FALSE(no_grouping);
  EXPECT_EQ(no_grouping.error().code, Code::kUsage);
  const auto no_depth = choose_view("functions", {.by = {}, .depth = 2});
  ASSERT_FALSE(no_depth);
  EXPECT_EQ(no_depth.error().code, Code::kUsage);
}

}  // namespace
}  // namespace fathom::analysis
