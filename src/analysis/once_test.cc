// SPDX-License-Identifier: MIT
// Several layers see one call. Whoever asks how many calls and bytes there were means each once.
#include <gtest/gtest.h>

#include "analysis/check/check.h"
#include "analysis/compare/testing/text_store.h"
#include "analysis/report.h"
#include "analysis/view_tools.h"

namespace fathom::analysis {
namespace {

using analysis::testing::lines_of;

// The library was in process 10, not in 20. Only the kernel saw what 10's loader read, and what it
// wrote by io_uring.
constexpr char kRun[] = R"(run command=work host=here start=1000000000000 duration=1000000 exit=0
layer posix on
layer syscall on
layer fs on
process 10 name=work start=0 end=1000000
process 20 name=static start=0 end=1000000
thread 10/10 start=0 end=1000000
thread 20/20 start=0 end=1000000
event 10/10 1000 +1000 posix read category=read file=/d/in bytes=100
event 10/10 1100 +100 syscall read category=read file=/d/in bytes=100
event 10/10 1120 +10 fs read category=read file=/d/in bytes=100
event 10/10 500 +10 syscall read category=read file=/d/lib.so bytes=7
event 10/10 3000 +10 posix open category=open file=/d/ring
event 10/10 3001 +5 syscall openat category=open file=/d/ring
event 10/10 3100 +10 syscall write category=write file=/d/ring bytes=32
event 10/10 4000 +10 posix write category=write bytes=6
event 10/10 4001 +5 syscall write category=write bytes=6 args.peer="pipe [4711]"
event 20/20 1100 +100 syscall read category=read file=/d/in bytes=50
event 20/20 1120 +10 fs read category=read file=/d/in bytes=50
event 20/20 1300 +10 fs write category=write file=/d/out bytes=4096
)";

class OnceTest : public analysis::testing::TextStores {
 protected:
  void SetUp() override {
    TextStores::SetUp();
    store_.emplace(open(record(kRun)));
  }

  std::string view(const std::string& name, const std::string& columns,
                   const ViewOptions& options = {}) {
    const Result<const ViewDef*> chosen = choose_view(name, options);
    EXPECT_TRUE(chosen) << chosen.error().message;
    const Result<Report> report = make_report(**chosen, *store_, options);
    EXPECT_TRUE(report) << report.error().message;
    const Table& table = report->sections[0].table;
    Table shown;
    std::vector<std::size_t> places;
    for (const std::string_view column : split(columns, ',')) {
      places.push_back(column_of(table, column));
      shown.columns.push_back(table.columns[places.back()]);
    }
    for (const auto& row : table.rows) {
      shown.rows.emplace_back();
      for (const std::size_t place : places) shown.rows.back().push_back(row[place]);
    }
    return lines_of(shown);
  }

  std::optional<Store> store_;
};

TEST_F(OnceTest, Processes) {
  EXPECT_EQ(view("processes", "pid,calls,read,written"),
            "pid|calls|read|written\n10|5|107|38\n20|2|50|4096");
  EXPECT_EQ(view("ranks", "pid,calls,read,written"),
            "pid|calls|read|written\n10|5|107|38\n20|2|50|4096");
}

// Of a file that the library saw nothing of, in a process that it was in, the kernel tells.
TEST_F(OnceTest, Files) {
  EXPECT_EQ(view("files", "file,calls,read,written,per_read"),
            "file|calls|read|written|per_read\n/d/in|2|150|0|75\n/d/lib.so|1|7|0|7\n"
            "/d/out|1|0|4096|-\n/d/ring|2|0|32|-");
  EXPECT_EQ(view("directories", "directory,calls,read,written"),
            "directory|calls|read|written\n/d|6|157|4128");
  EXPECT_EQ(lines_of(*store_->query("SELECT path, calls, bytes_read, bytes_written FROM files "
                                    "ORDER BY path")),
            "path|calls|bytes_read|bytes_written\n/d/in|2|150|0\n/d/lib.so|1|7|0\n/d/out|1|0|4096\n"
            "/d/ring|2|0|32");
}

// A call that failed moved nothing, and what a copy wrote is a call on the file that it read.
TEST_F(OnceTest, AveragesAreOfCallsThatWorked) {
  store_.emplace(open(record(R"(run command=work host=here start=0 duration=1000000 exit=0
layer posix on
process 10 name=work start=0 end=1000000
thread 10/10 start=0 end=1000000
event 10/10 1000 +10 posix write category=write file=/d/out bytes=100
event 10/10 1100 +10 posix write category=write file=/d/out bytes=0 error=ENOSPC
event 10/10 1200 +10 posix write category=write file=/d/out bytes=0 error=ENOSPC
event 10/10 1300 +10 posix read category=read file=/d/in bytes=0 error=EAGAIN
event 10/10 1400 +10 posix read category=read file=/d/in bytes=50
event 10/10 1500 +10 posix copy_file_range category=read file=/d/in bytes=900 args.to=/d/out
event 10/10 1600 +10 posix read category=read file=/d/no bytes=0 error=EIO
)")));
  EXPECT_EQ(view("files", "file,calls,read,written,per_read,per_write"),
            "file|calls|read|written|per_read|per_write\n/d/in|3|950|0|475|-\n"
            "/d/out|3|0|1000|-|100\n/d/no|1|0|0|-|-");
  const Result<Report> report = make_report(**choose_view("overview", {}), *store_, {});
  ASSERT_TRUE(report);
  bool told = false;
  for (const auto& line : report->words) told |= line.find("50 B per call") != std::string::npos;
  EXPECT_TRUE(told);
}

TEST_F(OnceTest, EachLayerHasItsOwn) {
  EXPECT_EQ(view("files", "layer,file,calls,read", {.by = {"layer"}, .top = 2}),
            "layer|file|calls|read\nposix|/d/in|1|100\nsyscall|/d/in|2|150");
}

TEST_F(OnceTest, Budgets) {
  struct Case {
    const char* budget;
    double want;
  };
  for (const Case& c :
       {Case{"measure: calls\n   function: read", 3},
        Case{"measure: bytes\n   category: read", 157}, Case{"measure: bytes\n   file: lib.so", 7},
        Case{"measure: calls\n   function: read\n   layer: fs", 2}}) {
    const auto budgets =
        parse_budgets("budgets:\n - " + std::string(c.budget) + "\n   max: 1\n", "b");
    ASSERT_TRUE(budgets) << budgets.error().message;
    const Result<RunReadings> readings = read_budgets(*store_, {}, *budgets);
    ASSERT_TRUE(readings) << readings.error().message;
    const auto outcomes = check_budgets(*budgets, {.runs = {{*readings}}, .baseline = {}});
    ASSERT_TRUE(outcomes) << outcomes.error().message;
    EXPECT_EQ(outcomes->front().value, c.want) << c.budget;
  }
}

}  // namespace
}  // namespace fathom::analysis
